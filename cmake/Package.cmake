# Debian packages of the installed parts: run `cpack` in the folder of a release build.
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL library development program)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGE_CONTACT "Sextant developers <sextant@example.org>")
set(CPACK_PACKAGE_VENDOR Sextant)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "Dataflow graphs, training and serving in TensorFlow's formats: the library")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS "libcurl4, libarchive13")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)

set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Dataflow graphs, training and serving in TensorFlow's formats: headers")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libsextant (= ${PROJECT_VERSION}), libfmt-dev, libprotobuf-dev")

set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "Dataflow graphs, training and serving in TensorFlow's formats: the sextant program")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "libcurl4, libarchive13")
include(CPack)
