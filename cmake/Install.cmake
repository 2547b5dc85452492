# The program, headers, libsextant, a CMake package (find_package(Sextant)) and a pkg-config file.
include(CMakePackageConfigHelpers)

install(TARGETS sextant EXPORT SextantTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
set_target_properties(sextant-cli PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
install(TARGETS sextant-cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/sextant DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*_test.h" EXCLUDE PATTERN "testing" EXCLUDE)
install(DIRECTORY ${CMAKE_BINARY_DIR}/generated/sextant DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.pb.h")
install(EXPORT SextantTargets NAMESPACE Sextant:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sextant)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/SextantConfig.cmake.in ${CMAKE_BINARY_DIR}/SextantConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sextant)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/SextantConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/SextantConfig.cmake ${CMAKE_BINARY_DIR}/SextantConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sextant)
configure_file(${CMAKE_CURRENT_LIST_DIR}/sextant.pc.in ${CMAKE_BINARY_DIR}/sextant.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/sextant.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
