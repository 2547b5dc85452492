# The program, headers, libsextant with libsextant_dist and libsextant_serving, a CMake package (find_package(Sextant)) and a
# pkg-config file, in three parts: library, development and program. `cpack` makes a Debian package of each.
include(CMakePackageConfigHelpers)

install(TARGETS sextant sextant_cluster sextant_serving EXPORT SextantTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(TARGETS sextant-cli sextant-net RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
if(NOT SEXTANT_HIDDEN)  # then the program uses the library
  set_target_properties(sextant-cli sextant-net PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
endif()

install(CODE "set(SEXTANT_SOURCE_DIR [[${PROJECT_SOURCE_DIR}]])
              set(SEXTANT_INCLUDE_DESTINATION [[${CMAKE_INSTALL_INCLUDEDIR}]])" COMPONENT development)
install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/InstallHeaders.cmake COMPONENT development)
get_property(public_proto_headers GLOBAL PROPERTY SEXTANT_PUBLIC_PROTO_HEADERS)
install(FILES ${public_proto_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sextant/proto COMPONENT development)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Sextant)
install(EXPORT SextantTargets NAMESPACE Sextant:: DESTINATION ${package_folder} COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/SextantConfig.cmake.in ${CMAKE_BINARY_DIR}/SextantConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/SextantConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/SextantConfig.cmake ${CMAKE_BINARY_DIR}/SextantConfigVersion.cmake
        DESTINATION ${package_folder} COMPONENT development)
configure_file(${CMAKE_CURRENT_LIST_DIR}/sextant.pc.in ${CMAKE_BINARY_DIR}/sextant.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/sextant.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

foreach(part library:libsextant development:libsextant-dev program:sextant)
  string(REPLACE ":" ";" part ${part})
  list(GET part 0 component)
  list(GET part 1 package)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} RENAME copyright
          COMPONENT ${component})
  string(TOUPPER ${component} key)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${package})
endforeach()
include(${CMAKE_CURRENT_LIST_DIR}/Package.cmake)
