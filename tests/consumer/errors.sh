#!/usr/bin/env bash
# What a user reads who made a mistake, in each of the three ways to get dory: the message names the mistake and what to do.
# Usage: errors.sh SOURCE WORK GENERATOR PREFIX
set -uo pipefail
source=$1 work=$2 generator=$3 prefix=$4
failures=0 count=0
rm -rf "$work"
mkdir -p "$work/project"
cp "$source/apps/digits/digits.onnx" "$work/project"
tar -C "$source" -czf "$work/dory.tar.gz" CMakeLists.txt boards cmake generator hal kernels scripts

declare -A get=(
  [find_package]='find_package(dory 0.1 REQUIRED)'
  [add_subdirectory]="add_subdirectory($source dory EXCLUDE_FROM_ALL)"
  [FetchContent]="include(FetchContent)
    FetchContent_Declare(dory URL $work/dory.tar.gz DOWNLOAD_EXTRACT_TIMESTAMP ON)
    FetchContent_MakeAvailable(dory)"
)

# Configures in a folder in which CMake knows its compilers from the time before, and nothing of dory.
configure() { cmake -G Ninja -S "$work/project" -B "$work/build" -U 'DORY*' -U 'dory*' -U CMAKE_BUILD_TYPE -DCMAKE_PREFIX_PATH="$prefix" "$@"; }

# expect METHOD MESSAGE LINES [CMAKE_ARGUMENT...]: configuring a project of these LINES, or generating its network, fails with the message.
# Line breaks of CMake's messages count as blanks.
expect() {
  local method=$1 message=$2 lines=$3 found
  shift 3
  count=$((count + 1))
  printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' "${languages:-project(user LANGUAGES C ASM)}" "${get[$method]}" "$lines" \
    >"$work/project/CMakeLists.txt"
  if { configure -DDORY_GENERATOR="$generator" "$@" && cmake --build "$work/build" --target net_network/net.c; } >"$work/log" 2>&1; then
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
  expect $method 'dory_add_network(net): TARGET gap8, but this build is for host: configure a new build folder with -DCMAKE_TOOLCHAIN_FILE=' \
    'dory_add_network(net digits.onnx TARGET gap8)'
  expect $method "DORY_TARGET is gap8, but the compiler is this PC's: configure a new build folder with -DCMAKE_TOOLCHAIN_FILE=" \
    'dory_add_network(net digits.onnx)' -DDORY_TARGET=gap8
  expect $method 'DORY_TARGET is "toaster", but there is no folder hal/toaster for such a machine' 'dory_add_network(net digits.onnx)' \
    -DDORY_TARGET=toaster
  expect $method 'DORY_GENERATOR names /nowhere/dory, which does not exist' 'dory_add_network(net digits.onnx)' -DDORY_GENERATOR=/nowhere/dory
done
# The rest is the same function's in all three.
expect find_package 'dory_add_network(net): unknown argument FASTER' 'dory_add_network(net digits.onnx FASTER)'
expect find_package 'dory_add_network: my-net becomes part of C names; letters, digits and underscores only' 'dory_add_network(my-net digits.onnx)'
expect find_package 'does not fit' 'dory_add_network(net digits.onnx L1_BYTES 600)'
expect find_package "--dump-tensors '9': all, or numbers of layers from 0 to 4" 'dory_add_network(net digits.onnx DUMP 9)'

# What is absent, empty or misspelt is an error when CMake runs, before anything is built.
expect_early() { expect find_package "$@"; if grep -q 'Generating done' "$work/log"; then echo "FAILED: only the build says: $1"; failures=$((failures + 1)); fi; }
expect_early 'dory_add_network(net): WEIGHTS floating: it is one of flash, resident, auto, linked' 'dory_add_network(net digits.onnx WEIGHTS floating)'
expect_early 'dory_add_network(net): REQUANTISATION quick: it is one of exact, fast' 'dory_add_network(net digits.onnx REQUANTISATION quick)'
expect_early "the model $work/project/missing.onnx does not exist" 'dory_add_network(net missing.onnx)'
expect_early "golden or a folder, and $work/project/golden_typo does not exist" 'dory_add_network(net digits.onnx CHECK golden_typo)'
expect_early 'CHECK has no value; is a variable empty?' 'dory_add_network(net digits.onnx CHECK)'
expect_early 'CHECK has no value; is a variable empty?' 'dory_add_network(net digits.onnx CHECK "${unset}")'
expect_early 'CHECK has no value; is a variable empty?' 'dory_add_network(net digits.onnx CHECK ${unset} CORES 4)'
expect_early 'DUMP has no value; is a variable empty?' 'dory_add_network(net digits.onnx DUMP ${layers})'
expect_early 'CORES has no value; is a variable empty?' 'dory_add_network(net digits.onnx CORES ${cores})'
expect_early 'TARGET has no value; is a variable empty?' 'dory_add_network(net digits.onnx TARGET ${machine})'
expect_early 'CONFIG is there 2 times' 'dory_add_network(net digits.onnx CONFIG a.json CONFIG b.json)'
expect_early "CONFIG $work/project/options.json does not exist" 'dory_add_network(net digits.onnx CONFIG options.json)'
expect_early 'L1_BYTES 64q : a whole number above 0 is expected' 'dory_add_network(net digits.onnx L1_BYTES 64q)'
expect_early 'CORES 0 : a whole number above 0 is expected' 'dory_add_network(net digits.onnx CORES 0)'
expect_early 'OPTIONS --output-dir=elsewhere: here it is not to be chosen' 'dory_add_network(net digits.onnx OPTIONS --output-dir=elsewhere)'
expect_early 'OPTIONS --all-channels: here it is ALL_CHANNELS' 'dory_add_network(net digits.onnx OPTIONS --all-channels)'
expect_early 'OPTIONS --check: here it is CHECK' 'dory_add_network(net digits.onnx OPTIONS --check golden)'
expect_early "DORY_TARGET_DESCRIPTION /nowhere/machine.json does not exist" 'dory_add_network(net digits.onnx)' -DDORY_TARGET_DESCRIPTION=/nowhere/machine.json
expect_early "$work/project/image.bin does not exist" 'dory_add_flash_data(net image image.bin)'
expect_early 'the symbol is no name of C' 'dory_add_flash_data(net my-image digits.onnx)'
expect_early 'dory_add_flash_data(net image): unknown argument more' 'dory_add_flash_data(net image digits.onnx more)'
expect_early 'dory_add_aideck(deck): net is no network of dory_add_network' 'dory_add_aideck(deck net SOURCES answer.c)'
expect_early 'dory_add_aideck(deck): no SOURCES' 'dory_add_network(net digits.onnx)
dory_add_aideck(deck net)'
expect_early 'dory_add_aideck(deck): OUTPUTS 0 : a whole number above 0 is expected' 'dory_add_network(net digits.onnx)
dory_add_aideck(deck net OUTPUTS 0 SOURCES answer.c)'
expect_early "dory_add_aideck(deck): PICTURES $work/project/nowhere does not exist" 'dory_add_network(net digits.onnx)
dory_add_aideck(deck net PICTURES nowhere SOURCES answer.c)'
expect_early 'dory_add_aideck(deck): PICTURES .: there is no picture-0.raw' 'dory_add_network(net digits.onnx)
dory_add_aideck(deck net PICTURES . SOURCES answer.c)'
expect_early 'TIMEOUT soon : a whole number above 0 is expected' 'dory_add_firmware_test(test net TIMEOUT soon)'
expect_early 'dory_add_firmware_test(test): unknown argument FAST' 'dory_add_firmware_test(test net FAST)'
expect_early 'dory_add_run_target(run): unknown argument FAST' 'dory_add_run_target(run net FAST)'

rm -rf "$work/build" # another compiler
expect find_package 'DORY_PULP_ARCHITECTURE is rv32imcxgap8, which has no effect without DORY_PULP_TOOLCHAIN' 'dory_add_network(net digits.onnx)' \
  -DCMAKE_TOOLCHAIN_FILE="$prefix/share/dory/toolchains/gap8.cmake" -DDORY_PULP_ARCHITECTURE=rv32imcxgap8
rm -rf "$work/build"

# Only the generator can tell.
mkdir "$work/project/empty" "$work/project/misspelt"
touch "$work/project/misspelt/out_layer_0.txt"
expect find_package 'holds no input.txt and no out_layer<n>.txt' 'dory_add_network(net digits.onnx CHECK empty)'
expect find_package 'holds no input.txt and no out_layer<n>.txt' 'dory_add_network(net digits.onnx CHECK misspelt)'
expect find_package 'is no folder' 'dory_add_network(net digits.onnx CHECK digits.onnx)'
expect find_package 'does not exist' 'dory_add_network(net digits.onnx CHECK ${CMAKE_BINARY_DIR}/golden_typo)'
expect find_package 'cores' 'dory_add_network(net digits.onnx CORES 900)'
expect find_package 'missing.onnx' 'dory_add_network(net ${CMAKE_BINARY_DIR}/missing.onnx)'

# Without enable_testing() there is no test, and ctest ends well: a warning.
warns_of_testing() { # LINES: configures a project of them
  printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(user LANGUAGES C ASM)' "${get[find_package]}" "$1" >"$work/project/CMakeLists.txt"
  configure >"$work/log" 2>&1 || echo "FAILED: cmake"
  count=$((count + 1))
  tr -s ' \n' ' ' <"$work/log" | grep -q 'enable_testing() is not called in'
}
warns_of_testing 'dory_add_network(net digits.onnx CHECK golden)' || { echo "FAILED: no word about enable_testing()"; failures=$((failures + 1)); }
warns_of_testing 'dory_add_network(net digits.onnx)
    add_executable(program digits.onnx)
    set_target_properties(program PROPERTIES LINKER_LANGUAGE C)
    dory_add_firmware_test(test program)' || { echo "FAILED: no word about enable_testing() for a firmware's test"; failures=$((failures + 1)); }
if warns_of_testing 'dory_add_network(net digits.onnx CHECK golden)
    enable_testing()'; then echo "FAILED: enable_testing() comes later, and is missed"; failures=$((failures + 1)); fi

languages='project(user LANGUAGES C)'
for method in add_subdirectory FetchContent; do # the package switches it on
  expect $method 'dory_add_network(net): weights are assembly sources: project(user LANGUAGES C ASM)' 'dory_add_network(net digits.onnx)'
done
languages=''
get[find_package]='find_package(dory 9.0 REQUIRED)'
expect find_package 'that is compatible with requested version "9.0"' ''

echo "$count mistakes, $failures without their message"
exit $((failures != 0))
