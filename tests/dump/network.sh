#!/usr/bin/env bash
# `dory diff` of a network whose firmware computes other layers than the model has: exact, and it says what is missing.
# Usage: network.sh dead_channels|views DORY MODEL FIRMWARE [EMULATOR...]
set -euo pipefail
kind=$1 dory=$2 model=$3 firmware=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "FAILED: $*" >&2; exit 1; }

"$@" "$firmware" >log
"$dory" diff log "$model" >out || { cat out; fail "the log is not exact"; }

if [ "$kind" = views ]; then # instead of copies: the firmware has fewer layers
  layers=$("$dory" inspect "$model" | sed -n 's/^\([0-9]*\) layers, .*/\1/p')
  exact=$(sed -n 's/^\([0-9]*\) exact, 0 differ, 0 incomplete$/\1/p' out)
  [ "${exact:-0}" -gt 0 ] && [ "$exact" -lt "$layers" ] || { cat out; fail "$layers layers, ${exact:-none} compared: there are no views"; }
  exit 0
fi
grep -q '^layer 25 .*: 32 of 256 channels, the others are dead: exact (288 values)$' out || { cat out; fail "dead channels are not told"; }
grep -q '^30 exact, 0 differ, 0 incomplete$' out || { cat out; fail "not all layers are compared"; }
! "$dory" diff log "$model" --all-channels >out 2>&1 || fail "a network with all channels has the same log"
grep -q 'is of another network' out || { cat out; fail "another hash is not told"; }
