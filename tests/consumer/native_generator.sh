#!/usr/bin/env bash
# A cross build without a generator at hand builds one for this machine: not with the target's compiler, and not with
# what CC and CFLAGS of the environment say. Then there is nothing left to do until a source of the generator changes.
# Usage: native_generator.sh SOURCE WORK
set -euo pipefail
source=$1 work=$2

fail() { echo "FAILED: $*" >&2; exit 1; }

rm -rf "$work"
mkdir -p "$work"
cd "$work"
mkdir project dory
cp -r "$source"/{CMakeLists.txt,cmake,generator,hal,kernels,toolchains} dory/
cp "$source/apps/digits/digits.onnx" project/
cat >project/CMakeLists.txt <<PROJECT
cmake_minimum_required(VERSION 3.25)
project(native LANGUAGES C ASM)
add_subdirectory($work/dory dory EXCLUDE_FROM_ALL)
dory_add_network(digits digits.onnx L2_BYTES 100000) # whose code need not be measured, so that no kernel is compiled for it
PROJECT

export CC=/bin/false CFLAGS=-not-an-option CPPFLAGS=-not-an-option LDFLAGS=-not-an-option ASM=/bin/false ASMFLAGS=-not-an-option
cmake -G Ninja -S project -B dory/build "-DCMAKE_TOOLCHAIN_FILE=$source/toolchains/virt.cmake" >log 2>&1 || { cat log; fail cmake; }
ninja -C dory/build digits_network/digits.c >log 2>&1 || { tail -n 40 log; fail "the build"; }
dory/build/dory_native/bin/dory --version >/dev/null || fail "the generator does not run on this machine"
ninja -C dory/build digits_network/digits.c >log
grep -q 'no work to do' log || { cat log; fail "there is still work to do after a build"; }
echo "built natively, with the environment for another compiler"
