# Installs the public headers: sextant.h, and those with the pragma that exports their names (see sextant/base/export.h). Run
# when installing, so that a header that has just become public is among them.
file(GLOB_RECURSE headers RELATIVE ${SEXTANT_SOURCE_DIR} ${SEXTANT_SOURCE_DIR}/sextant/*.h)
foreach(header ${headers})
  file(STRINGS ${SEXTANT_SOURCE_DIR}/${header} pragma REGEX "^#pragma GCC visibility push" LIMIT_COUNT 1)
  if(pragma OR header MATCHES "^sextant/(sextant|base/export).h$")
    get_filename_component(folder ${header} DIRECTORY)
    file(INSTALL DESTINATION ${CMAKE_INSTALL_PREFIX}/${SEXTANT_INCLUDE_DESTINATION}/${folder} TYPE FILE
         FILES ${SEXTANT_SOURCE_DIR}/${header})
  endif()
endforeach()
