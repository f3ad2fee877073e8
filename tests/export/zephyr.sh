#!/usr/bin/env bash
# An exported network as a module of Zephyr: its own CMake and Kconfig read the folder, Debian's gcc-arm-none-eabi compiles it, and under
# QEMU all results are the golden model's: on a Cortex-M33, of which Zephyr's board has no DSP instructions, and on an M55. The
# environment's ZEPHYR_BASE names Zephyr; without west, ZEPHYR_MODULES names its module cmsis.
# Usage: zephyr.sh SOURCE WORK PREFIX SHARED      dory is installed in PREFIX
[ -n "${ZEPHYR_BASE:-}" ] || { echo "no ZEPHYR_BASE"; exit 77; }
. "$(dirname "$(realpath "$0")")/common.sh"
for program in arm-none-eabi-gcc qemu-system-arm dtc gperf; do
  command -v $program >/dev/null || { echo "no $program"; exit 77; }
done
python3=/usr/bin/python3
$python3 -c 'import packaging, yaml, elftools, pykwalify.core' 2>/dev/null || { echo "no python3-pykwalify, -pyelftools, -packaging, -yaml"; exit 77; }
export ZEPHYR_TOOLCHAIN_VARIANT=${ZEPHYR_TOOLCHAIN_VARIANT:-cross-compile} CROSS_COMPILE=${CROSS_COMPILE:-/usr/bin/arm-none-eabi-}

# The test's main.c is called by one that leaves QEMU with its result, by semihosting.
cat >main.c <<C
#include <stdint.h>
#define main run_cases
#include "$here/main.c"
#undef main

int main(void)
{
    uint32_t result = run_cases() == 0 ? 0x20026 : 0x20024;
    register uint32_t operation __asm__("r0") = 0x18; /* SYS_EXIT */
    register uint32_t reason __asm__("r1") = result;
    __asm__ volatile("bkpt 0xAB" ::"r"(operation), "r"(reason) : "memory");
    return 0;
}
C
cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
find_package(Zephyr REQUIRED HINTS $ENV{ZEPHYR_BASE})
project(firmware C)
target_sources(app PRIVATE main.c)
target_include_directories(app PRIVATE .)
target_compile_definitions(app PRIVATE CASES="digits_cases.h")
CMAKE
printf '%s\n' CONFIG_DORY_DIGITS=y CONFIG_FPU=y CONFIG_MAIN_STACK_SIZE=8192 >prj.conf

run() { # CORE TARGET MACHINE BOARD NEWER-NAME: on that board of Zephyr, which newer versions call otherwise
  local core=$1 target=$2 machine=$3 board=$4 modules=EXTRA_ZEPHYR_MODULES=$PWD/digits
  [ -d "$ZEPHYR_BASE/boards/arm/$board" ] || board=$5
  [ -z "${ZEPHYR_MODULES:-}" ] || modules="ZEPHYR_MODULES=$ZEPHYR_MODULES;$PWD/digits"
  rm -rf digits
  export_network digits "$source/apps/digits/digits.onnx" "$target"
  write_cases digits "$source/apps/digits/digits.onnx" 2
  cmake -G Ninja -S . -B "$core" "-DBOARD=$board" "-DPython3_EXECUTABLE=$python3" "-D$modules" >log 2>&1 || { tail -n 20 log; fail "$core: CMake"; }
  cmake --build "$core" >log 2>&1 || { tail -n 30 log; fail "$core: build"; }
  grep -q '^CONFIG_DORY_DIGITS=y$' "$core/zephyr/.config" || fail "$core: Kconfig"
  timeout 60 qemu-system-arm -M "$machine" -display none -serial stdio -monitor none -semihosting-config enable=on,target=native \
    -kernel "$core/zephyr/zephyr.elf" </dev/null | tee "$core.output" || fail "$core: the run"
  grep -q 'status 0, 0 differences' "$core.output" || fail "$core: the results"
}
run m33 host mps2-an521 mps2_an521 mps2/an521/cpu0
run m55 cortex-m55 mps3-an547 mps3_an547 mps3/corstone300/an547
