# The compiler of chips of the PULP family, for their toolchain files: Debian's riscv64-unknown-elf-gcc with picolibc, or one that
# DORY_PULP_TOOLCHAIN names.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DORY_PULP_TOOLCHAIN DORY_PULP_ARCHITECTURE)
set(DORY_PULP_TOOLCHAIN "" CACHE FILEPATH "riscv32-unknown-elf-gcc with PULP instructions; empty: Debian's riscv64 one")
set(DORY_PULP_ARCHITECTURE rv32imcxpulpv2 CACHE STRING "-march for DORY_PULP_TOOLCHAIN")

if(DORY_PULP_TOOLCHAIN)
  set(DORY_PULP_GCC ${DORY_PULP_TOOLCHAIN})
  set(DORY_PULP_MACHINE "-march=${DORY_PULP_ARCHITECTURE}")
else()
  if(NOT DORY_PULP_ARCHITECTURE STREQUAL rv32imcxpulpv2)
    message(FATAL_ERROR "DORY_PULP_ARCHITECTURE is ${DORY_PULP_ARCHITECTURE}, which has no effect without DORY_PULP_TOOLCHAIN")
  endif()
  find_program(DORY_RISCV_GCC riscv64-unknown-elf-gcc)
  if(NOT DORY_RISCV_GCC)
    message(FATAL_ERROR "riscv64-unknown-elf-gcc is missing. On Debian: apt install gcc-riscv64-unknown-elf")
  endif()
  execute_process(COMMAND ${DORY_RISCV_GCC} -print-file-name=picolibc.specs OUTPUT_VARIABLE specs_file
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT IS_ABSOLUTE "${specs_file}")
    message(FATAL_ERROR "picolibc is missing. On Debian: apt install picolibc-riscv64-unknown-elf")
  endif()
  set(DORY_PULP_GCC ${DORY_RISCV_GCC})
  # -misa-spec=2.2: in later ones csrr is an extension of its own, with whose name GCC 12 picks a libgcc of another ABI.
  set(DORY_PULP_MACHINE "-march=rv32imc -misa-spec=2.2 -mabi=ilp32 --specs=picolibc.specs")
endif()

set(CMAKE_C_COMPILER ${DORY_PULP_GCC})
set(CMAKE_ASM_COMPILER ${DORY_PULP_GCC})
string(REGEX REPLACE "gcc([^/]*)$" "g++\\1" CMAKE_CXX_COMPILER ${DORY_PULP_GCC}) # of the same package; for projects that enable CXX
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # a program needs the linker script of hal/pulp

# _INIT variables are joined by CFLAGS of the environment, so the variables themselves are set. GCC's -O3 unrolls: more
# code that has to come to the instruction cache first.
set(CMAKE_C_FLAGS "${DORY_PULP_MACHINE} -ffunction-sections -fdata-sections" CACHE STRING "C flags")
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "C flags of release builds")
# C++ without exceptions and without a library of it, of which Debian has none for this compiler: its headers are those of C
# (<stdint.h>), and gcc links, since g++ would ask for the library.
set(CMAKE_CXX_FLAGS "${CMAKE_C_FLAGS} -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-use-cxa-atexit" CACHE STRING "C++ flags")
set(CMAKE_CXX_FLAGS_RELEASE "${CMAKE_C_FLAGS_RELEASE}" CACHE STRING "C++ flags of release builds")
set(CMAKE_CXX_LINK_EXECUTABLE
    "${CMAKE_C_COMPILER} <FLAGS> <CMAKE_CXX_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
set(CMAKE_ASM_FLAGS "${DORY_PULP_MACHINE}" CACHE STRING "Assembler flags")
set(CMAKE_EXE_LINKER_FLAGS "" CACHE STRING "Linker flags")

# A firmware that overflows L2 is told which numbers to give.
foreach(language IN ITEMS C CXX)
  set(CMAKE_${language}_LINKER_LAUNCHER ${CMAKE_CURRENT_LIST_DIR}/../cmake/DoryLink.sh ${CMAKE_BINARY_DIR}/dory_plans
      CACHE STRING "Links ${language} programs")
endforeach()

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER) # programs run on the build machine

# Of an installed dory: find_package(dory) finds the package that this file belongs to.
if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/../cmake/doryConfig.cmake)
  set(dory_DIR ${CMAKE_CURRENT_LIST_DIR}/../cmake CACHE PATH "Package of dory")
endif()
