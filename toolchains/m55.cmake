# Cortex-M55: Debian's arm-none-eabi-gcc with picolibc, run by qemu-system-arm as the board mps3-an547.
#
#     cmake --preset m55
set(DORY_CORTEXM_CHIP cortex-m55 CACHE STRING "Chip to plan for: a target of the generator")
set(DORY_CORTEXM_FLAGS "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard")
set(DORY_MPS_BOARD mps3-an547)
set(DORY_MPS_CODE "0x00000000, LENGTH = 512K")
set(DORY_MPS_DATA "0x60000000, LENGTH = 64M")
set(DORY_MPS_SRAM "0x21000000, LENGTH = 4M")
include(${CMAKE_CURRENT_LIST_DIR}/cortexm.cmake)
