# Modules and tests are declared by five functions: sextant_module, sextant_network_module, sextant_op_family, sextant_op_folder,
# sextant_test.

add_compile_options(-Wall -Wextra -Wshadow -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 warns of overlapping and of endless copies inside its own std::string and std::vector operations.
  add_compile_options(-Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
  # Units hold a gigabyte at most: looking for what could be freed before would only take time.
  add_compile_options("SHELL:--param ggc-min-heapsize=1000000")
  if(SEXTANT_UNITY)  # takes the sources of a unit for headers, which should have nothing local
    add_compile_options(-Wno-subobject-linkage)
  endif()
endif()
# Programs and libraries are compiled alike, so that they can share precompiled headers.
add_compile_options(-fPIC)
if(SEXTANT_HIDDEN)  # sextant/base/export.h says what is seen all the same
  add_compile_options(-fvisibility=hidden -fvisibility-inlines-hidden)
endif()
if(SEXTANT_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-fpch-preprocess)  # lets ccache see them
endif()
if(SEXTANT_WERROR)
  add_compile_options(-Werror)
endif()
# Results must not depend on whether the compiler fuses a multiply and an add.
add_compile_options(-ffp-contract=off)
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  add_compile_options(-O1)
endif()
if(SEXTANT_SANITIZE)
  add_compile_options(-fsanitize=${SEXTANT_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SEXTANT_SANITIZE})
endif()

# Code that runs once, or only in tests, is compiled quickly rather than to be quick.
set(SEXTANT_QUICK_BUILD $<$<CONFIG:Release>:-Og>)

# Sources to a unit; see sextant_unite. Kernels are instantiated for many types: eight of them would take the compiler
# more than 40 s and 1.2 GB.
set(SEXTANT_BATCH 8)
set(SEXTANT_KERNEL_BATCH 4)

# sextant_precompiled_headers(TARGET HEADER libraries...): HEADER is compiled once; other targets use it by
# sextant_precompile(), which halves the time of a clean build. Sources still include what they use: the dev preset
# compiles without. g++ 12 fails on sources that are optimised more than the headers were.
function(sextant_precompiled_headers target header)
  if(NOT SEXTANT_PCH)
    return()
  endif()
  set(folder ${PROJECT_SOURCE_DIR}/cmake/precompiled)
  add_library(${target} OBJECT ${folder}/nothing.cc)
  target_link_libraries(${target} PRIVATE sextant_flags ${ARGN})
  target_precompile_headers(${target} PRIVATE ${folder}/${header})
  # g++ knows a header it has read by its time too, which a cached copy would have of another checkout: "redefinition of".
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "")
  if(TARGET sextant_proto_headers)
    add_dependencies(${target} sextant_proto_headers)
  endif()
endfunction()

# sextant_precompile(TARGET HEADERS_TARGET): in front of each of its sources, those headers are included.
function(sextant_precompile target headers)
  if(SEXTANT_PCH AND TARGET ${headers})
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
endfunction()

# sextant_unite(TARGET BATCH): with SEXTANT_UNITY its sources are compiled BATCH to a unit, so that headers are read and
# templates instantiated once for all of them. Names that are local to a source are therefore unique in its folder.
# Sources that Highway includes again for each instruction set stay units of their own.
function(sextant_unite target batch)
  if(NOT SEXTANT_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    get_filename_component(path ${source} ABSOLUTE)
    if(EXISTS ${path})
      file(STRINGS ${path} repeated REGEX "^#define HWY_TARGET_INCLUDE" LIMIT_COUNT 1)
      if(repeated)
        set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      endif()
    endif()
  endforeach()
endfunction()

# sextant_module(NAME sources...): adds sextant/NAME to libsextant. tools/check keeps the
# modules one-way.
function(sextant_module name)
  if(NOT ARGN)  # a module of headers only has nothing to compile
    return()
  endif()
  add_library(sextant_${name} OBJECT ${ARGN})
  target_link_libraries(sextant_${name} PUBLIC sextant_flags)
  if(TARGET sextant_proto_headers)  # all modules from proto on may include generated headers
    add_dependencies(sextant_${name} sextant_proto_headers)
  endif()
  sextant_precompile(sextant_${name} sextant_precompiled)
  sextant_unite(sextant_${name} ${SEXTANT_BATCH})
  set_property(GLOBAL APPEND PROPERTY SEXTANT_OBJECTS sextant_${name})
endfunction()

# sextant_network_module(NAME sources...): sources of sextant/NAME that belong to the libraries of what speaks gRPC.
function(sextant_network_module name)
  add_library(sextant_${name}_network OBJECT ${ARGN})
  target_link_libraries(sextant_${name}_network PUBLIC sextant_flags PRIVATE gRPC::grpc++ OpenSSL::SSL)
  add_dependencies(sextant_${name}_network sextant_proto_headers sextant_network_proto_headers)
  sextant_unite(sextant_${name}_network ${SEXTANT_BATCH})
  set_property(GLOBAL APPEND PROPERTY SEXTANT_NETWORK_OBJECTS sextant_${name}_network)
endfunction()

# sextant_op_family(STEM Name): in a folder of sextant/ops, the family STEM.{h,cc,_cpu.cc,_test.cc}, registered by
# Register<Name>(OpRegistry&) and Register<Name>Cpu(KernelRegistry&). A family whose ops the runtime itself
# executes has no _cpu.cc; further sources may follow.
function(sextant_op_family stem name)
  set(base ${CMAKE_CURRENT_SOURCE_DIR}/${stem})
  if(NOT EXISTS ${base}.cc)
    message(FATAL_ERROR "family ${stem} has no ${base}.cc")
  endif()
  set_property(DIRECTORY APPEND PROPERTY SEXTANT_FOLDER_DEFINITIONS ${base}.cc)
  set_property(GLOBAL APPEND PROPERTY SEXTANT_OP_REGISTRARS ${name})
  if(EXISTS ${base}_cpu.cc)
    set_property(DIRECTORY APPEND PROPERTY SEXTANT_FOLDER_KERNELS ${base}_cpu.cc)
    set_property(GLOBAL APPEND PROPERTY SEXTANT_KERNEL_REGISTRARS ${name}Cpu)
  endif()
  foreach(source ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY SEXTANT_FOLDER_KERNELS ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  endforeach()
  if(EXISTS ${base}_test.cc)
    set_property(DIRECTORY APPEND PROPERTY SEXTANT_FOLDER_TESTS ${base}_test.cc)
  endif()
endfunction()

# sextant_op_folder(FOLDER): ends the CMakeLists.txt of a folder of families; makes its part of libsextant and
# ops_FOLDER_test. Definitions are a target of their own because they run once.
function(sextant_op_folder folder)
  get_property(definitions DIRECTORY PROPERTY SEXTANT_FOLDER_DEFINITIONS)
  sextant_module(ops_${folder}_definitions ${definitions})
  target_compile_options(sextant_ops_${folder}_definitions PRIVATE ${SEXTANT_QUICK_BUILD})
  get_property(kernels DIRECTORY PROPERTY SEXTANT_FOLDER_KERNELS)
  if(kernels)
    sextant_module(ops_${folder} ${kernels})
    target_link_libraries(sextant_ops_${folder} PRIVATE PkgConfig::HWY Eigen3::Eigen)
    sextant_unite(sextant_ops_${folder} ${SEXTANT_KERNEL_BATCH})
  endif()
  get_property(tests DIRECTORY PROPERTY SEXTANT_FOLDER_TESTS)
  if(tests)
    sextant_test(ops_${folder}_test ${tests})
  endif()
endfunction()

# sextant_test(NAME sources...): one GoogleTest program, registered with CTest. Tests find the
# repository's data through SEXTANT_SOURCE_DIR.
function(sextant_test name)
  if(NOT SEXTANT_TESTS)
    return()
  endif()
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE sextant_testing sextant_test_main)
  target_compile_options(${name} PRIVATE ${SEXTANT_QUICK_BUILD})
  sextant_precompile(${name} sextant_test_precompiled)
  sextant_unite(${name} ${SEXTANT_BATCH})
  target_compile_definitions(${name} PRIVATE SEXTANT_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             SEXTANT_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS unit)
endfunction()

# sextant_network_test(NAME sources...): the same of what speaks gRPC, which is compiled with -pthread: the precompiled
# headers are not.
function(sextant_network_test name)
  sextant_test(${name} ${ARGN})
  if(TARGET ${name})
    target_link_libraries(${name} PRIVATE sextant_network_testing)
    set_target_properties(${name} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
  endif()
endfunction()
