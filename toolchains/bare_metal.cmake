# What toolchain files without an operating system share: GCC and its flags, picolibc, programs that a launcher links.
#
#     dory_find_gcc(VARIABLE riscv64-unknown-elf)      Debian's gcc of that name in VARIABLE; an error without it or picolibc
#     dory_use_gcc(GCC FLAGS [LINKER_FLAGS])           the compiler of C, C++ and assembler
#
# Nothing is read from the environment: CC, CFLAGS and the like are for the build machine.
macro(dory_find_gcc variable prefix)
  find_program(${variable} ${prefix}-gcc)
  if(NOT ${variable})
    message(FATAL_ERROR "${prefix}-gcc is missing. On Debian: apt install gcc-${prefix}")
  endif()
  execute_process(COMMAND ${${variable}} -print-file-name=picolibc.specs OUTPUT_VARIABLE specs_file
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT IS_ABSOLUTE "${specs_file}")
    message(FATAL_ERROR "picolibc is missing. On Debian: apt install picolibc-${prefix}")
  endif()
endmacro()

# C++ without exceptions and without a library of it, of which Debian has none for these compilers: its headers are those of
# C (<stdint.h>), and gcc links, since g++ would ask for the library. _INIT variables are joined by CFLAGS of the environment,
# so the variables themselves are set.
macro(dory_use_gcc gcc flags)
  set(CMAKE_C_COMPILER ${gcc})
  set(CMAKE_ASM_COMPILER ${gcc})
  string(REGEX REPLACE "gcc([^/]*)$" "g++\\1" CMAKE_CXX_COMPILER ${gcc}) # of the same package; for projects that enable CXX
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # a program needs a linker script
  set(CMAKE_C_FLAGS "${flags} -ffunction-sections -fdata-sections" CACHE STRING "C flags")
  set(CMAKE_CXX_FLAGS "${CMAKE_C_FLAGS} -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-use-cxa-atexit" CACHE STRING "C++ flags")
  set(CMAKE_CXX_LINK_EXECUTABLE
      "${CMAKE_C_COMPILER} <FLAGS> <CMAKE_CXX_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
  set(CMAKE_ASM_FLAGS "${flags}" CACHE STRING "Assembler flags")
  set(CMAKE_EXE_LINKER_FLAGS "${ARGN}" CACHE STRING "Linker flags")
  set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER) # programs run on the build machine
endmacro()

# Releases with -O2: GCC's -O3 unrolls, and that is more code to come to an instruction cache first.
macro(dory_release_with_o2)
  set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "C flags of release builds")
  set(CMAKE_CXX_FLAGS_RELEASE "${CMAKE_C_FLAGS_RELEASE}" CACHE STRING "C++ flags of release builds")
endmacro()

# A firmware that overflows L2 is told which numbers to give.
macro(dory_explain_overflows)
  foreach(language IN ITEMS C CXX)
    set(CMAKE_${language}_LINKER_LAUNCHER ${CMAKE_CURRENT_LIST_DIR}/../cmake/DoryLink.sh ${CMAKE_BINARY_DIR}/dory_plans
        CACHE STRING "Links ${language} programs")
  endforeach()
endmacro()

# Of an installed dory: find_package(dory) finds the package that this file belongs to.
if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/../cmake/doryConfig.cmake)
  set(dory_DIR ${CMAKE_CURRENT_LIST_DIR}/../cmake CACHE PATH "Package of dory")
endif()
