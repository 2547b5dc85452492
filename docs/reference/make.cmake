# Installs the public headers into the working directory and lets Doxygen read them. What Doxygen warns of is an error.
file(REMOVE_RECURSE include)
execute_process(
  COMMAND ${CMAKE_COMMAND} -D SEXTANT_SOURCE_DIR=${SEXTANT_SOURCE_DIR} -D SEXTANT_INCLUDE_DESTINATION=include
          -D CMAKE_INSTALL_PREFIX=${CMAKE_CURRENT_BINARY_DIR} -P ${SEXTANT_SOURCE_DIR}/cmake/InstallHeaders.cmake
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${SEXTANT_DOXYGEN} Doxyfile COMMAND_ERROR_IS_FATAL ANY)
