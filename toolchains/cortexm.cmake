# What the toolchain files m4, m7, m33 and m55 share.
#
# Needs:  apt install gcc-arm-none-eabi picolibc-arm-none-eabi qemu-system-arm
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(DORY_TARGET cortexm CACHE STRING "Hardware to build for: host, virt, gap8, pmsis or cortexm")
set(DORY_CORTEXM_BOARD mps) # start-up code and memory map: boards/mps

include(${CMAKE_CURRENT_LIST_DIR}/bare_metal.cmake)
dory_find_gcc(DORY_ARM_GCC arm-none-eabi)
dory_use_gcc(${DORY_ARM_GCC} "${DORY_CORTEXM_FLAGS} --specs=picolibc.specs" -Wl,-z,noexecstack) # the library does not say so, and ld warns
dory_release_with_o2()

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
