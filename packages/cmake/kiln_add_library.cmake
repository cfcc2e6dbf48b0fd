# kiln_add_library(NAME SPEC FILE [CXX] [PACKS] [RUNTIME TARGET] [COMPRESS zstd] [FLAGS FLAG...])
#
# A static library of the spec's kernels. Programs that link it find its header, NAME.h, and get the runtime with it:
# kiln::runtime, or another that RUNTIME names, and what emulated targets and compressed binaries need. With CXX there is
# NAME.hpp, too: the functions for C++17. With PACKS the device binaries stand in files of their own, NAME_FOLDER/*.kpack.
#
# Each kernel compiles for each target by itself, again only where its sources have changed. FLAGS are those of
# kiln build; KILN is the command. The spec's kernels are looked up when CMake runs, which it does again when the spec
# changes. NAME_FOLDER is the folder of the header, the archive and the manifest.
function(kiln_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CXX;PACKS" "SPEC;RUNTIME;COMPRESS" "FLAGS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SPEC)
    message(FATAL_ERROR "kiln_add_library(${name}): expected SPEC FILE, got '${arg_SPEC}' and '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT arg_RUNTIME)
    set(arg_RUNTIME kiln::runtime)
  endif()
  if(arg_COMPRESS)
    list(APPEND arg_FLAGS --compress ${arg_COMPRESS})
  endif()
  if(arg_CXX)
    list(APPEND arg_FLAGS --cxx)
  endif()
  if(arg_PACKS)
    list(APPEND arg_FLAGS --packs)
  endif()
  get_filename_component(spec "${arg_SPEC}" ABSOLUTE)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${name}.kernels")
  set(arguments "${spec}" --name ${name} ${arg_FLAGS})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${spec}")
  execute_process(COMMAND "${KILN}" plan ${arguments} --list OUTPUT_VARIABLE groups COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" groups "${groups}")
  set(pieces)
  foreach(group IN LISTS groups)
    set(piece "${folder}/pieces/${group}")
    list(APPEND pieces "${piece}")
    add_custom_command(
      OUTPUT "${piece}"
      COMMAND "${KILN}" build ${arguments} -j 1 --only ${group} --objects "${piece}" --depfile "${piece}.d"
      DEPENDS "${spec}" "${KILN}"
      DEPFILE "${piece}.d"
      COMMENT "Compiling ${group}"
      VERBATIM)
  endforeach()
  set(files "${folder}/${name}.h" "${folder}/${name}.c" "${folder}/${name}.json" "${folder}/lib${name}.a")
  if(arg_CXX)
    list(APPEND files "${folder}/${name}.hpp")
  endif()
  add_custom_command(
    OUTPUT ${files}
    COMMAND "${KILN}" link ${arguments} ${pieces} -o "${folder}"
    DEPENDS "${spec}" "${KILN}" ${pieces}
    COMMENT "Linking the kernels of ${name}"
    VERBATIM)
  add_library(${name} STATIC "${folder}/${name}.c" "${folder}/${name}.h")
  target_include_directories(${name} PUBLIC "${folder}")
  target_link_libraries(${name} PUBLIC "${folder}/lib${name}.a")
  if(groups MATCHES "@emu_")
    target_link_libraries(${name} PUBLIC kiln::emulator)
  endif()
  if(arg_COMPRESS STREQUAL "zstd")
    target_link_libraries(${name} PUBLIC kiln::zstd)
  endif()
  target_link_libraries(${name} PUBLIC ${arg_RUNTIME})
  set(${name}_FOLDER "${folder}" PARENT_SCOPE)
endfunction()
