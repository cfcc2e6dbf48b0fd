# find_package(kiln): the command, the runtime and kiln_add_library().
#
#   kiln::kiln            the command
#   kiln::runtime         the runtime, a static library; kiln::runtime_shared is the shared one
#   kiln::emulator        beside it, for libraries with binaries for emulated GPUs
#   kiln::zstd            beside it, for libraries with compressed binaries; needs libzstd
#   kiln::tuner           beside it, for the programs of kiln tune
#
# Everything is found from where this file is.
include(CMakeFindDependencyMacro)
find_dependency(Threads)

get_filename_component(kiln_FOLDER "${CMAKE_CURRENT_LIST_FILE}" REALPATH)
get_filename_component(kiln_PREFIX "${kiln_FOLDER}/../../../.." ABSOLUTE)
set(KILN "${kiln_PREFIX}/bin/kiln")

if(NOT TARGET kiln::runtime)
  add_executable(kiln::kiln IMPORTED)
  set_target_properties(kiln::kiln PROPERTIES IMPORTED_LOCATION "${KILN}")

  add_library(kiln::runtime STATIC IMPORTED)
  set_target_properties(kiln::runtime PROPERTIES
    IMPORTED_LOCATION "${kiln_PREFIX}/lib/libkiln.a"
    INTERFACE_INCLUDE_DIRECTORIES "${kiln_PREFIX}/include/kiln"
    INTERFACE_LINK_LIBRARIES "${CMAKE_DL_LIBS};Threads::Threads;m")

  add_library(kiln::runtime_shared SHARED IMPORTED)
  set_target_properties(kiln::runtime_shared PROPERTIES
    IMPORTED_LOCATION "${kiln_PREFIX}/lib/libkiln.so"
    INTERFACE_INCLUDE_DIRECTORIES "${kiln_PREFIX}/include/kiln"
    INTERFACE_LINK_LIBRARIES "m")

  add_library(kiln::emulator STATIC IMPORTED)
  set_target_properties(kiln::emulator PROPERTIES
    IMPORTED_LOCATION "${kiln_PREFIX}/lib/libkiln_emulator.a"
    INTERFACE_LINK_LIBRARIES "kiln::runtime;stdc++")

  add_library(kiln::zstd STATIC IMPORTED)
  set_target_properties(kiln::zstd PROPERTIES
    IMPORTED_LOCATION "${kiln_PREFIX}/lib/libkiln_zstd.a"
    INTERFACE_LINK_LIBRARIES "zstd")

  add_library(kiln::tuner STATIC IMPORTED)
  set_target_properties(kiln::tuner PROPERTIES
    IMPORTED_LOCATION "${kiln_PREFIX}/lib/libkiln_tuner.a"
    INTERFACE_LINK_LIBRARIES "kiln::runtime")
endif()

include("${CMAKE_CURRENT_LIST_DIR}/kiln_add_library.cmake")
