# The generator `dory` as a target that a custom command can run: dory::dory.
#
#   DORY_GENERATOR=<path>            that program is used
#   in a host build of this tree     it is simply built
#   an installed dory                the program beside the package is used
#   otherwise                        it is built for the build machine, in a build of its own
#
# The last never sees the target's compiler, its flags or a CC or CFLAGS of the environment.

set(DORY_GENERATOR "" CACHE FILEPATH "The dory program to use; empty: the installed one, or one built for this machine")
set(DORY_NATIVE_C_COMPILER "" CACHE FILEPATH "Compiler for programs of the build machine; empty: the first of cc, gcc, clang")

function(_dory_import_generator path)
  add_executable(dory::dory IMPORTED GLOBAL)
  set_target_properties(dory::dory PROPERTIES IMPORTED_LOCATION ${path})
endfunction()

function(_dory_find_native_compiler variable)
  if(NOT DORY_NATIVE_C_COMPILER)
    find_program(native_compiler NAMES cc gcc clang NO_CACHE NO_CMAKE_FIND_ROOT_PATH)
    if(NOT native_compiler)
      message(FATAL_ERROR "dory: the generator must be built for this machine, and there is no compiler for it. "
                          "Install gcc, or set DORY_NATIVE_C_COMPILER or DORY_GENERATOR.")
    endif()
    set(DORY_NATIVE_C_COMPILER ${native_compiler})
  endif()
  set(${variable} ${DORY_NATIVE_C_COMPILER} PARENT_SCOPE)
endfunction()

# A build in the build, made again when a source of the generator has changed, and only then.
function(_dory_build_native_generator source_dir)
  _dory_find_native_compiler(compiler)
  set(binary_dir ${CMAKE_BINARY_DIR}/dory_native)
  set(program ${binary_dir}/bin/dory)
  set(without_environment ${CMAKE_COMMAND} -E env)
  foreach(variable IN ITEMS CC CFLAGS CPPFLAGS LDFLAGS ASM ASMFLAGS CMAKE_TOOLCHAIN_FILE)
    list(APPEND without_environment --unset=${variable})
  endforeach()
  file(GLOB_RECURSE sources ${DORY_CONFIGURE_DEPENDS} ${source_dir}/generator/* ${source_dir}/kernels/shared/* ${source_dir}/kernels/quads/*
       ${source_dir}/kernels/*description.[ch] ${source_dir}/kernels/xpulpv2/*.h ${source_dir}/kernels/include/* ${source_dir}/hal/include/* ${source_dir}/hal/common/*)
  add_custom_command(
    OUTPUT ${program}
    COMMAND ${without_environment} ${CMAKE_COMMAND} -S ${source_dir} -B ${binary_dir} -G ${CMAKE_GENERATOR}
      -DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM} -DCMAKE_C_COMPILER=${compiler}
      -DCMAKE_BUILD_TYPE=Release -DDORY_TARGET=host -DDORY_GENERATOR_ONLY=ON
    COMMAND ${without_environment} ${CMAKE_COMMAND} --build ${binary_dir} --target dory
    COMMAND ${CMAKE_COMMAND} -E touch ${program} # where a source has changed, but not the program
    DEPENDS ${sources} ${source_dir}/CMakeLists.txt ${source_dir}/cmake/DoryGenerator.cmake
    COMMENT "dory: building the generator for this machine"
    USES_TERMINAL
    VERBATIM)
  add_custom_target(dory_native DEPENDS ${program})
  _dory_import_generator(${program})
  add_dependencies(dory::dory dory_native)
endfunction()

# Makes dory::dory exist. source_dir: this tree, for the native build; empty in an installed package.
function(dory_find_generator source_dir)
  if(TARGET dory::dory)
    return()
  endif()
  if(DORY_GENERATOR)
    if(NOT EXISTS ${DORY_GENERATOR})
      message(FATAL_ERROR "dory: DORY_GENERATOR names ${DORY_GENERATOR}, which does not exist")
    endif()
    _dory_import_generator(${DORY_GENERATOR})
  elseif(source_dir)
    _dory_build_native_generator(${source_dir})
  else()
    message(FATAL_ERROR "dory: no generator. Set DORY_GENERATOR to a dory program that runs on this machine.")
  endif()
endfunction()
