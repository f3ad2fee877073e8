#!/usr/bin/env bash
# `dory diff` of a network without its dead channels: exact, and where a byte of the log differs, in the model's channel.
# Usage: dead_channels.sh DORY MODEL FIRMWARE [EMULATOR...]
set -euo pipefail
dory=$1 model=$2 firmware=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "FAILED: $*" >&2; exit 1; }

"$@" "$firmware" >log
"$dory" diff log "$model" >out || { cat out; fail "the log is not exact"; }
grep -q '^layer 25 .*: 32 of 256 channels, the others are dead: exact (288 values)$' out || { cat out; fail "dead channels are not told"; }
grep -q '^30 exact, 0 differ, 0 incomplete$' out || { cat out; fail "not all layers are compared"; }
! "$dory" diff log "$model" --all-channels >out 2>&1 || fail "a network with all channels has the same log"
grep -q 'is of another network' out || { cat out; fail "another hash is not told"; }
