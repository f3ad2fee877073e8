# Cortex-M33: Debian's arm-none-eabi-gcc with picolibc, run by qemu-system-arm as the board mps2-an505.
#
#     cmake --preset m33
set(DORY_CORTEXM_CHIP cortex-m33 CACHE STRING "Chip to plan for: a target of the generator")
set(DORY_CORTEXM_FLAGS "-mcpu=cortex-m33 -mthumb -mfloat-abi=soft")
set(DORY_MPS_BOARD mps2-an505)
set(DORY_MPS_CODE "0x10000000, LENGTH = 4M")
set(DORY_MPS_DATA "0x80000000, LENGTH = 16M")
set(DORY_MPS_SRAM "0x38000000, LENGTH = 4M")
include(${CMAKE_CURRENT_LIST_DIR}/cortexm.cmake)
