#!/usr/bin/env bash
# A project for a chip of twelve cores and 256 kB of L1, as a user configures it: the host HAL has the chip's memories, and
# the network is exact.
# Usage: host_hal.sh SOURCE GENERATOR WORK
set -euo pipefail
source=$1 generator=$2 work=$3
fail() { echo "FAILED: $*" >&2; exit 1; }
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "$*"; }; }

rm -rf "$work"
mkdir -p "$work/dory"
cp -r "$1"/{CMakeLists.txt,cmake,generator,hal,kernels} "$work/dory/"
source=$work/dory build=$work/dory/build/chip # as deep as a preset's: see dory_compile_once
sed 's/"name": "host"/"name": "my_chip"/; s/"cores": 8/"cores": 12/; s/"l1": 65536/"l1": 262144/; s/"l2": 524288/"l2": 2097152/' \
  "$source/generator/target/host.json" >"$work/my_chip.json"

quietly cmake -G Ninja -S "$source/cmake/verify" -B "$build" "-DDORY_TARGET_DESCRIPTION=$work/my_chip.json" \
  "-DDORY_GENERATOR=$generator" "-DVERIFY_MODEL=$1/apps/digits/digits.onnx" -DVERIFY_CHECK=golden
quietly cmake --build "$build" --target network_check
"$build/network_check" >"$work/run" || { cat "$work/run" >&2; fail "network_check"; }
grep -q 'exact' "$work/run" || { cat "$work/run" >&2; fail "nothing was compared"; }
grep -q '\.cores = 12' "$build/network_network/network.c" || fail "the plan is not for 12 cores"

# The same HAL has as much L1 as the chip, and no more.
cat >"$work/reserve.c" <<'C'
#include "dory/hal.h"
int main(void)
{
    void *l1, *more, *l2;
    return hal_memory_reserve(HAL_L1, 262144, &l1) != 0 || hal_memory_reserve(HAL_L1, 4, &more) == 0 ||
           hal_memory_reserve(HAL_L2, 2000000, &l2) != 0;
}
C
libraries=$(find "$build" -name libdory_hal.a)
quietly cc -I"$source/hal/include" "$work/reserve.c" $libraries -pthread -o "$work/reserve"
"$work/reserve" || fail "the host HAL has other memories than the description"
