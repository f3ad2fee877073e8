# RISC-V virtual machine: Debian's riscv64-unknown-elf-gcc with picolibc, run by qemu-system-riscv32.
#
#     cmake --preset virt
#
# Needs:  apt install gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf qemu-system-misc
# Nothing is read from the environment: CC, CFLAGS and the like are for the build machine.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR riscv32)
set(DORY_TARGET virt CACHE STRING "Hardware to build for: host, virt, gap8 or pmsis")

find_program(DORY_RISCV_GCC riscv64-unknown-elf-gcc)
if(NOT DORY_RISCV_GCC)
  message(FATAL_ERROR "riscv64-unknown-elf-gcc is missing. On Debian: apt install gcc-riscv64-unknown-elf")
endif()
execute_process(COMMAND ${DORY_RISCV_GCC} -print-file-name=picolibc.specs OUTPUT_VARIABLE specs_file
                OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT IS_ABSOLUTE "${specs_file}")
  message(FATAL_ERROR "picolibc is missing. On Debian: apt install picolibc-riscv64-unknown-elf")
endif()

set(CMAKE_C_COMPILER ${DORY_RISCV_GCC})
set(CMAKE_ASM_COMPILER ${DORY_RISCV_GCC})
string(REGEX REPLACE "gcc([^/]*)$" "g++\\1" CMAKE_CXX_COMPILER ${DORY_RISCV_GCC}) # of the same package; for projects that enable CXX
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # a program needs the linker script of hal/virt

# _INIT variables are joined by CFLAGS of the environment, so the variables themselves are set.
set(DORY_VIRT_MACHINE "-march=rv32imac -mabi=ilp32 --specs=picolibc.specs")
set(CMAKE_C_FLAGS "${DORY_VIRT_MACHINE} -ffunction-sections -fdata-sections" CACHE STRING "C flags")
# C++ without exceptions and without a library of it, of which Debian has none for this compiler: its headers are those of C
# (<stdint.h>), and gcc links, since g++ would ask for the library.
set(CMAKE_CXX_FLAGS "${CMAKE_C_FLAGS} -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-use-cxa-atexit" CACHE STRING "C++ flags")
set(CMAKE_CXX_LINK_EXECUTABLE
    "${CMAKE_C_COMPILER} <FLAGS> <CMAKE_CXX_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
set(CMAKE_ASM_FLAGS "${DORY_VIRT_MACHINE}" CACHE STRING "Assembler flags")
set(CMAKE_EXE_LINKER_FLAGS "" CACHE STRING "Linker flags")

# A firmware that overflows L2 is told which numbers to give.
foreach(language IN ITEMS C CXX)
  set(CMAKE_${language}_LINKER_LAUNCHER ${CMAKE_CURRENT_LIST_DIR}/../cmake/DoryLink.sh ${CMAKE_BINARY_DIR}/dory_plans
      CACHE STRING "Links ${language} programs")
endforeach()

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER) # programs run on the build machine

# Tests and `cmake --build` run firmware through this. Text goes to the standard output, and main's result is QEMU's.
find_program(DORY_QEMU_RISCV32 qemu-system-riscv32)
if(DORY_QEMU_RISCV32)
  set(CMAKE_CROSSCOMPILING_EMULATOR
      ${DORY_QEMU_RISCV32} -M virt -smp 8 -m 128M -display none -serial none -monitor none
      -semihosting-config enable=on,target=native -bios none -kernel)
else()
  message(STATUS "qemu-system-riscv32 is missing: firmware is built, but its tests are skipped. "
                 "On Debian: apt install qemu-system-misc")
endif()

# Of an installed dory: find_package(dory) finds the package that this file belongs to.
if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/../cmake/doryConfig.cmake)
  set(dory_DIR ${CMAKE_CURRENT_LIST_DIR}/../cmake CACHE PATH "Package of dory")
endif()
