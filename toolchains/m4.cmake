# Cortex-M4: Debian's arm-none-eabi-gcc with picolibc, run by qemu-system-arm as the board mps2-an386.
#
#     cmake --preset m4
set(DORY_CORTEXM_CHIP cortex-m4 CACHE STRING "Chip to plan for: a target of the generator")
set(DORY_CORTEXM_FLAGS "-mcpu=cortex-m4 -mthumb -mfloat-abi=soft")
set(DORY_MPS_BOARD mps2-an386)
set(DORY_MPS_CODE "0x00000000, LENGTH = 4M")
set(DORY_MPS_DATA "0x21000000, LENGTH = 16M")
set(DORY_MPS_SRAM "0x20000000, LENGTH = 4M")
include(${CMAKE_CURRENT_LIST_DIR}/cortexm.cmake)
