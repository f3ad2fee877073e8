#!/usr/bin/env bash
# Runs pairs of programs under QEMU and prints a line a network: compare.sh (NAME TFLM DORY)... -- EMULATOR... -kernel
set -euo pipefail
pairs=()
while [ "$1" != -- ]; do pairs+=("$1"); shift; done
shift
emulator=$1
shift
value() { sed -n "s/^$2: //p" <<< "$1"; }
run() { timeout 300 "$emulator" -icount shift=0 "${options[@]}" "$1"; }
options=("$@")
printf 'network: instructions of TFLM with CMSIS-NN, of dory, ratio; RAM of both\n'
for ((i = 0; i < ${#pairs[@]}; i += 3)); do
  theirs=$(run "${pairs[i + 1]}") ours=$(run "${pairs[i + 2]}")
  awk -v name="${pairs[i]}" -v a="$(value "$theirs" instructions)" -v b="$(value "$ours" instructions)" \
    -v c="$(value "$theirs" 'arena bytes')" -v d="$(value "$ours" 'arena bytes')" \
    'BEGIN { if (a < 1 || b < 1) exit 1; printf "%s: %d, %d, %.2f; %d, %d\n", name, a, b, a / b, c, d }'
done
