#!/usr/bin/env bash
# Tensors between layers that take turns are in the log, row by row, and `dory diff` compares them.
# Usage: dump.sh DORY MODEL FIRMWARE [EMULATOR...]
set -euo pipefail
dory=$1 model=$2 firmware=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $1"; cat out; exit 1; }

"$@" "$firmware" >log
cp log out
grep -q '^turns were seen' log || fail 'the application saw no turns'
"$dory" diff log "$model" --config none >out 2>&1 || fail 'a tensor differs or is missing'
grep -q '14 exact, 0 differ, 0 incomplete' out || fail 'not all layers were compared'

# Rows of an inner tensor that the log has lost are missed.
sed '/^@dory L1 20 /d' log >lost.log
! "$dory" diff lost.log "$model" --config none >out 2>&1 || fail 'a line is gone, and nobody noticed'
grep -q 'layer 1 .*: 32 of [0-9]* bytes are not in the log' out || fail 'a line is gone, and it was not said which'
