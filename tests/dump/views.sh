#!/usr/bin/env bash
# `dory diff` of a network with views instead of copies: of the log it is told that the firmware has fewer layers.
# Usage: views.sh DORY MODEL FIRMWARE [EMULATOR...]
set -euo pipefail
dory=$1 model=$2 firmware=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "FAILED: $*" >&2; exit 1; }

"$@" "$firmware" >log
"$dory" diff log "$model" >out || { cat out; fail "the log is not exact"; }
layers=$("$dory" inspect "$model" | sed -n 's/^\([0-9]*\) layers, .*/\1/p')
exact=$(sed -n 's/^\([0-9]*\) exact, 0 differ, 0 incomplete$/\1/p' out)
[ "${exact:-0}" -gt 0 ] && [ "$exact" -lt "$layers" ] || { cat out; fail "$layers layers, ${exact:-none} compared: there are no views"; }
