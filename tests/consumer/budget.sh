#!/usr/bin/env bash
# What the plan of a network says is free of L2 is free, and no more but for kernels that its layers might have had and have
# not: an application that takes as much is linked, one that takes a little more is not, and the build says which number to give.
# Usage: budget.sh TARGET SOURCE WORK PREFIX      dory is installed in PREFIX
set -euo pipefail
target=$1 source=$2 work=$3 prefix=$4
slack=1500 # bytes: of tables, counted with the pointers of a PC, and of alignment

fail() { echo "FAILED: $*" >&2; exit 1; }

rm -rf "$work"
mkdir -p "$work/project" "$work/home"
cp -r "$prefix" "$work/home/.local"
prefix=$work/home/.local build=project/build/$target
cd "$work"
cp "$source/tests/consumer/project/model/residual.onnx" project/model.onnx
cat >project/main.c <<'MAIN'
#include "network.h"

static uint8_t l1[NETWORK_L1_BYTES] DORY_L1, l2[NETWORK_L2_BYTES] DORY_L2;
static volatile uint8_t buffer[BUFFER_BYTES] DORY_L2;

int main(void)
{
    struct dory_buffers buffers = {.l1 = l1, .l1_bytes = sizeof l1, .l2 = l2, .l2_bytes = sizeof l2};
    int status = hal_cluster_open(NETWORK_CORES);
    if (!status)
        status = hal_l3_open(NULL, NULL);
    buffers.flash_address = hal_flash_address(network_weights);
    buffer[0] = 1;
    if (!status)
        status = dory_network_check_flash(&network_network, &buffers);
    if (!status)
        status = network_run(&buffers, NULL, NULL);
    hal_log(dory_strerror(status));
    hal_cluster_close();
    return hal_l3_close();
}
MAIN
cat >project/CMakeLists.txt <<'PROJECT'
cmake_minimum_required(VERSION 3.25)
project(budget LANGUAGES C ASM)
find_package(dory REQUIRED)
dory_add_network(network model.onnx ${MEMORY})
add_executable(firmware main.c)
target_compile_definitions(firmware PRIVATE BUFFER_BYTES=${BUFFER})
target_link_libraries(firmware PRIVATE network)
PROJECT

configure() { # APPLICATION BUFFER, or L2_BYTES=NUMBER BUFFER
  local memory="APPLICATION_L2_BYTES;$1"
  case $1 in L2_BYTES=*) memory=${1/=/;} ;; esac
  cmake -G Ninja -S project -B "$build" "-DCMAKE_TOOLCHAIN_FILE=$prefix/share/dory/toolchains/$target.cmake" \
    -DCMAKE_BUILD_TYPE=Release "-DMEMORY=$memory" "-DBUFFER=$2" >log 2>&1 || { cat log; fail cmake; }
}
expect_link() { ninja -C "$build" -v >log 2>&1 || { tail -n 20 log; fail "$1"; }; }
expect_no_link() {
  if ninja -C "$build" >log 2>&1; then fail "$1"; fi
  grep -q 'overflowed by [0-9]* bytes' log && grep -q 'APPLICATION_L2_BYTES (16384 and the network.s inputs and outputs unless it is given)' log || { cat log; fail "no clear message"; }
}
# The number that a build without success said to give as KEYWORD.
advised() { sed -n "s/^dory: give dory_add_network(network) $1 \([0-9]*\); this plan .*/\1/p" log | grep . || { cat log >&2; fail "no number for $1"; }; }
of_plan() { grep -o -m 1 "[0-9]* $1" "$build"/network_network/network_plan.txt | cut -d " " -f 1; }

code_of() { riscv64-unknown-elf-nm --defined-only -S "$1" | sed -n 's/^[0-9a-f]* \([0-9a-f]*\) [tTrR] \(.*\)/\2 \1/p' | sort; }
# Bytes of the functions and constants that the probe has and the firmware has not.
unused_bytes() {
  local sum=0 name bytes
  code_of "$build"/firmware | cut -d ' ' -f 1 >used
  while read -r name bytes; do
    grep -qxF "$name" used || sum=$((sum + 0x$bytes))
  done < <(code_of "$build"/network_network/network_probe)
  echo $sum
}

application=20000
configure $application 8
expect_link "a small application"
free=$(of_plan free)
whole=$(sed -n 's/^L2: \([0-9]*\) of .*/\1/p' "$build"/network_network/network_plan.txt)
[ "$free" -gt 100000 ] || fail "only $free bytes are free beside a small network"
configure $application $((application + free - slack))
expect_link "the application's share and $free free bytes do not fit"
if grep -q 'dory generate' log; then fail "generated again, though only the application has changed"; fi
unused=$(unused_bytes)
[ "$unused" -lt 12000 ] || fail "the plan leaves $unused bytes for kernels that it does not take"
buffer=$((application + free + unused + slack))
configure $application $buffer
expect_no_link "an application that is too large was linked"
configure "$(advised APPLICATION_L2_BYTES)" $buffer
expect_link "the number that was said to be given is not enough"
# Too large by a quarter of the plan, as the linker counts: by so little that a plan in what is left needs not much longer tables.
# What the firmware itself takes is asked of the linker, as another plan may have other code: with a table of tiles, or without.
configure "L2_BYTES=$whole" $((buffer + whole))
expect_no_link "an application that is too large for L2_BYTES by far was linked"
larger=$((buffer + whole - $(sed -n "s/.*overflowed by \([0-9]*\) bytes.*/\1/p" log | head -n 1) + whole / 4))
configure "L2_BYTES=$whole" $larger
expect_no_link "an application that is too large for L2_BYTES was linked"
for attempt in 1 2 3 4 5; do # a smaller buffer can need longer tables, and more is to be taken off for these
  configure "L2_BYTES=$(advised L2_BYTES)" $larger
  if ninja -C "$build" >log 2>&1; then break; fi
  [ $attempt -lt 5 ] || { tail -n 20 log; fail "the L2_BYTES that were said to be given are too many, five times"; }
done

# An application that says what it takes, and takes most of L2, leaves less to the network: its plan fits in.
configure 500000 8
expect_no_plan() { if ninja -C "$build" >log 2>&1; then fail "no network fits beside 500000 bytes"; fi; grep -q 'the whole network fits with at least\|does not fit\|nothing of L2' log || { cat log; fail "no message"; }; }
expect_no_plan
configure 470000 468000
expect_link "a plan beside a large application"
ninja -C "$build" >log
grep -q 'no work to do' log || { cat log; fail "there is still work to do after a build"; }

# Kernels and HAL decide what they take, not a constant: they are linked without the network's data.
probe=$(of_plan 'bytes of code')
echo "$target: $probe bytes of L2 for code and application, $(of_plan 'of tables') for tables, exact to $slack, and $unused for kernels that it does not take"
