#!/usr/bin/env bash
# The boot ROM cannot load what lies in the last 32 KiB of L2, which it uses itself: the linker refuses such a program.
# Usage: loaded.sh COMPILER LINKER_SCRIPT HAL_LIBRARY WORK
set -euo pipefail
compiler=$1 script=$2 library=$3 work=$4
fail() { echo "FAILED: $*" >&2; exit 1; }
mkdir -p "$work"
cd "$work"

link_with() { # BYTES of constants
  echo "const char constants[$1] = {1}; int main(void) { return ((const volatile char *)constants)[1]; }" >program.c
  "$compiler" -march=rv32imc -misa-spec=2.2 -mabi=ilp32 --specs=picolibc.specs -O2 -T"$script" -L"$(dirname "$script")/../gap8" -nostartfiles -Wl,--gc-sections \
    -Wl,--undefined=_start -Wl,--defsym=DORY_FLASH_OFFSET=0x100000 program.c "$library" -o program >log 2>&1
}

link_with 409600 || { cat log; fail "400 KiB of constants can be loaded"; }
if link_with 491520; then fail "480 KiB of constants and the code cannot be loaded"; fi
grep -q "the boot ROM uses while it loads" log || { cat log; fail "no word of the boot ROM"; }
