# Cortex-M7: Debian's arm-none-eabi-gcc with picolibc, run by qemu-system-arm as the board mps2-an500.
#
#     cmake --preset m7
set(DORY_CORTEXM_CHIP cortex-m7 CACHE STRING "Chip to plan for: a target of the generator")
set(DORY_CORTEXM_FLAGS "-mcpu=cortex-m7 -mthumb -mfloat-abi=soft")
set(DORY_MPS_BOARD mps2-an500)
set(DORY_MPS_CODE "0x00000000, LENGTH = 4M")
set(DORY_MPS_DATA "0x60000000, LENGTH = 16M")
set(DORY_MPS_SRAM "0x20000000, LENGTH = 4M")
include(${CMAKE_CURRENT_LIST_DIR}/cortexm.cmake)
