#!/usr/bin/env bash
# An exported network in a firmware of the Pico SDK, for RP2040 and RP2350. The environment's PICO_SDK_PATH names the SDK; it builds
# with Debian's gcc-arm-none-eabi, libnewlib-arm-none-eabi and libstdc++-arm-none-eabi-newlib. Built only: no emulator is here.
# Usage: pico.sh SOURCE WORK PREFIX SHARED      dory is installed in PREFIX
[ -n "${PICO_SDK_PATH:-}" ] || { echo "no PICO_SDK_PATH"; exit 77; }
. "$(dirname "$(realpath "$0")")/common.sh"
cat >main.c <<'C'
#include "digits.h"
#include "pico/stdlib.h"

static uint8_t arena[DIGITS_ARENA_BYTES] __attribute__((aligned(DIGITS_ARENA_ALIGNMENT)));
static uint8_t input[DIGITS_INPUT_BYTES];
static int32_t output[DIGITS_OUTPUT_BYTES / sizeof(int32_t)];

int main(void)
{
    stdio_init_all();
    return digits_run(arena, input, output);
}
C
cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.13)
set(PICO_NO_PICOTOOL 1)
include($ENV{PICO_SDK_PATH}/pico_sdk_init.cmake)
project(firmware C CXX ASM)
pico_sdk_init()
add_subdirectory(digits)
add_executable(firmware main.c)
target_link_libraries(firmware pico_stdlib digits)
CMAKE
for board in pico pico2; do # Cortex-M0+ and M33
  rm -rf digits
  export_network digits "$source/apps/digits/digits.onnx" $([ $board = pico ] && echo host || echo cortex-m33)
  cmake -G Ninja -S . -B $board -DPICO_BOARD=$board >log 2>&1 && cmake --build $board >>log 2>&1 || { tail -n 20 log; fail "$board"; }
  nm $board/firmware.elf | grep ' digits_run$' >/dev/null || fail "$board: the network is not in the program"
done
