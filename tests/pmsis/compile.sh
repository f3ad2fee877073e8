#!/usr/bin/env bash
# Compiles HAL, kernels and a network for GAP8 under PMSIS, against declarations, and looks whether weights stay out of memory.
# Usage: compile.sh SOURCE WORK GENERATOR
set -euo pipefail
source=$1 work=$2 generator=$3

rm -rf "$work"
mkdir -p "$work/project"
cd "$work"
cat >project/CMakeLists.txt <<PROJECT
cmake_minimum_required(VERSION 3.25)
project(pmsis LANGUAGES C ASM)
add_compile_options(-Wall -Wextra -Wconversion -Werror)
add_subdirectory($source dory EXCLUDE_FROM_ALL)
dory_add_network(digits $source/apps/digits/digits.onnx)
add_library(application STATIC application.c)
target_link_libraries(application PRIVATE digits)
PROJECT
cat >project/application.c <<'APPLICATION'
#include "pmsis.h"
#include "digits.h"
static uint8_t l1[DIGITS_L1_BYTES] DORY_L1;
static uint8_t l2[DIGITS_L2_BYTES] DORY_L2;
int application(const void *image, void *logits);
int application(const void *image, void *logits)
{
    struct dory_buffers buffers = {
        .l1 = l1, .l1_bytes = sizeof l1, .l2 = l2, .l2_bytes = sizeof l2, .flash_address = hal_flash_address(digits_weights)};
    static struct dory_job job DORY_FC;
    int status = digits_start(&job, &buffers, image, logits);
    return status ? status : digits_wait(&job);
}
APPLICATION
{
  cmake -G Ninja -S project -B build "-DCMAKE_TOOLCHAIN_FILE=$source/toolchains/gap8.cmake" -DCMAKE_BUILD_TYPE=Release \
    -DDORY_TARGET=pmsis -DDORY_PMSIS_DECLARATIONS=ON "-DDORY_GENERATOR=$generator"
  cmake --build build --target application digits dory_kernels dory_hal
} >log 2>&1 || { cat log; exit 1; }

# The linker must place weights at an address of the flash's data area, in no memory.
riscv64-unknown-elf-objdump -h build/libdigits.a | grep -A1 dory_flash >sections
if grep -q ALLOC sections; then echo "FAILED: weights would be loaded into L2" && cat sections && exit 1; fi
echo "compiled for GAP8 under PMSIS; weights are not loaded"
