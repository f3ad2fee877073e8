#!/usr/bin/env bash
# What a user reads who made a mistake, in each of the three ways to get dory: the message names the mistake and what to do.
# Usage: errors.sh SOURCE WORK GENERATOR PREFIX
set -uo pipefail
source=$1 work=$2 generator=$3 prefix=$4
failures=0 count=0
rm -rf "$work"
mkdir -p "$work/project"
cp "$source/apps/digits/digits.onnx" "$work/project"
tar -C "$source" -czf "$work/dory.tar.gz" CMakeLists.txt cmake generator hal kernels

declare -A get=(
  [find_package]='find_package(dory 0.1 REQUIRED)'
  [add_subdirectory]="add_subdirectory($source dory EXCLUDE_FROM_ALL)"
  [FetchContent]="include(FetchContent)
    FetchContent_Declare(dory URL $work/dory.tar.gz DOWNLOAD_EXTRACT_TIMESTAMP ON)
    FetchContent_MakeAvailable(dory)"
)

# expect METHOD MESSAGE LINES [CMAKE_ARGUMENT...]: configuring or building a project of these LINES fails with the message.
# Line breaks of CMake's messages count as blanks.
expect() {
  local method=$1 message=$2 lines=$3 found
  shift 3
  count=$((count + 1))
  rm -rf "$work/build"
  printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' "${languages:-project(user LANGUAGES C ASM)}" "${get[$method]}" "$lines" \
    >"$work/project/CMakeLists.txt"
  if { cmake -G Ninja -S "$work/project" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" -DDORY_GENERATOR="$generator" "$@" &&
    cmake --build "$work/build"; } >"$work/log" 2>&1; then
    echo "FAILED: $method: no error for: $lines $*"
    failures=$((failures + 1))
    return
  fi
  found=$(tr -s ' \n' ' ' <"$work/log")
  if [[ $found != *"$message"* ]]; then
    echo "FAILED: $method: no '$message' in:"
    cat "$work/log"
    failures=$((failures + 1))
  fi
}

for method in find_package add_subdirectory FetchContent; do
  expect $method 'dory_add_network(net): TARGET gap8, but kernels and HAL are built for host; configure with -DDORY_TARGET=gap8' \
    'dory_add_network(net digits.onnx TARGET gap8)'
  expect $method 'DORY_TARGET is "toaster", but there is no folder hal/toaster for such a machine' 'dory_add_network(net digits.onnx)' \
    -DDORY_TARGET=toaster
  expect $method 'DORY_GENERATOR names /nowhere/dory, which does not exist' 'dory_add_network(net digits.onnx)' -DDORY_GENERATOR=/nowhere/dory
done
# The rest is the same function's in all three.
expect find_package 'dory_add_network(net): unknown argument FASTER' 'dory_add_network(net digits.onnx FASTER)'
expect find_package 'dory_add_network: my-net becomes part of C names; letters, digits and underscores only' 'dory_add_network(my-net digits.onnx)'
expect find_package 'does not fit' 'dory_add_network(net digits.onnx L1_BYTES 600)'
expect find_package "--dump-tensors '9': all, or numbers of layers from 0 to 4" 'dory_add_network(net digits.onnx DUMP 9)'
expect find_package 'missing.onnx' 'dory_add_network(net missing.onnx)'
languages='project(user LANGUAGES C)'
for method in add_subdirectory FetchContent; do # the package switches it on
  expect $method 'dory_add_network(net): weights are assembly sources: project(user LANGUAGES C ASM)' 'dory_add_network(net digits.onnx)'
done
languages=''
get[find_package]='find_package(dory 9.0 REQUIRED)'
expect find_package 'that is compatible with requested version "9.0"' ''

echo "$count mistakes, $failures without their message"
exit $((failures != 0))
