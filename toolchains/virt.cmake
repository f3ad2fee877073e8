# RISC-V virtual machine: Debian's riscv64-unknown-elf-gcc with picolibc, run by qemu-system-riscv32.
#
#     cmake --preset virt
#
# Needs:  apt install gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf qemu-system-misc
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR riscv32)
set(DORY_TARGET virt CACHE STRING "Hardware to build for: host, virt, gap8 or pmsis")

include(${CMAKE_CURRENT_LIST_DIR}/bare_metal.cmake)
dory_find_gcc(DORY_RISCV_GCC riscv64-unknown-elf)
dory_use_gcc(${DORY_RISCV_GCC} "-march=rv32imac -mabi=ilp32 --specs=picolibc.specs")
dory_explain_overflows()

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
