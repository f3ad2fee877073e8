# What the toolchain files m4, m7, m33 and m55 share.
#
# Needs:  apt install gcc-arm-none-eabi picolibc-arm-none-eabi qemu-system-arm
# Nothing is read from the environment: CC, CFLAGS and the like are for the build machine.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(DORY_TARGET cortexm CACHE STRING "Hardware to build for: host, virt, gap8, pmsis or cortexm")
set(DORY_CORTEXM_BOARD mps) # start-up code and memory map: boards/mps

find_program(DORY_ARM_GCC arm-none-eabi-gcc)
if(NOT DORY_ARM_GCC)
  message(FATAL_ERROR "arm-none-eabi-gcc is missing. On Debian: apt install gcc-arm-none-eabi")
endif()
execute_process(COMMAND ${DORY_ARM_GCC} -print-file-name=picolibc.specs OUTPUT_VARIABLE specs_file
                OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT IS_ABSOLUTE "${specs_file}")
  message(FATAL_ERROR "picolibc is missing. On Debian: apt install picolibc-arm-none-eabi")
endif()

set(CMAKE_C_COMPILER ${DORY_ARM_GCC})
set(CMAKE_ASM_COMPILER ${DORY_ARM_GCC})
string(REGEX REPLACE "gcc([^/]*)$" "g++\\1" CMAKE_CXX_COMPILER ${DORY_ARM_GCC}) # of the same package; for projects that enable CXX
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # a program needs the linker script of boards/mps

# _INIT variables are joined by CFLAGS of the environment, so the variables themselves are set.
set(DORY_CORTEXM_MACHINE "${DORY_CORTEXM_FLAGS} --specs=picolibc.specs")
set(CMAKE_C_FLAGS "${DORY_CORTEXM_MACHINE} -ffunction-sections -fdata-sections" CACHE STRING "C flags")
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "C flags of release builds")
# C++ without exceptions and without a library of it; gcc links, since g++ would ask for the library.
set(CMAKE_CXX_FLAGS "${CMAKE_C_FLAGS} -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-use-cxa-atexit" CACHE STRING "C++ flags")
set(CMAKE_CXX_FLAGS_RELEASE "${CMAKE_C_FLAGS_RELEASE}" CACHE STRING "C++ flags of release builds")
set(CMAKE_CXX_LINK_EXECUTABLE
    "${CMAKE_C_COMPILER} <FLAGS> <CMAKE_CXX_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
set(CMAKE_ASM_FLAGS "${DORY_CORTEXM_MACHINE}" CACHE STRING "Assembler flags")
set(CMAKE_EXE_LINKER_FLAGS "" CACHE STRING "Linker flags")

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER) # programs run on the build machine

# Tests and `cmake --build` run firmware through this. Text goes to the standard output, and main's result is QEMU's.
find_program(DORY_QEMU_ARM qemu-system-arm)
if(DORY_QEMU_ARM)
  set(CMAKE_CROSSCOMPILING_EMULATOR
      ${DORY_QEMU_ARM} -M ${DORY_MPS_BOARD} -display none -serial none -monitor none
      -semihosting-config enable=on,target=native -kernel)
else()
  message(STATUS "qemu-system-arm is missing: firmware is built, but its tests are skipped. "
                 "On Debian: apt install qemu-system-arm")
endif()

# Of an installed dory: find_package(dory) finds the package that this file belongs to.
if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/../cmake/doryConfig.cmake)
  set(dory_DIR ${CMAKE_CURRENT_LIST_DIR}/../cmake CACHE PATH "Package of dory")
endif()
