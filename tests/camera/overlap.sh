#!/usr/bin/env bash
# Runs camera_demo on gvsoc: overlapped, it must take each frame that the camera sends, one by one, and be half as fast again as in turn at
# least, where it misses the start of every other frame.
# Usage: overlap.sh COMMAND...     COMMAND runs camera_demo
set -euo pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
"$@" >"$log" || status=$?
[ $status -ne 77 ] || exit 77
cat "$log"
[ $status -eq 0 ] || exit $status
fail() { echo "FAILED: $*"; exit 1; }

# The camera shows 0 to 9 in a circle.
mapfile -t overlapped < <(sed '/^overlapped/q' "$log" | sed -n 's/^frame [0-9]*: a \([0-9]\),.*/\1/p')
[ ${#overlapped[@]} -eq 10 ] || fail "${#overlapped[@]} frames"
for ((i = 1; i < 10; i++)); do
  [ "${overlapped[i]}" -eq $(((overlapped[i - 1] + 1) % 10)) ] || fail "frame $i is not the one behind the one before"
done
awk '/ frames a second/ { split($0, words, ": "); rate[words[1]] = words[2] + 0 }
     END { exit !(rate["in turn"] > 0 && rate["overlapped"] >= 1.5 * rate["in turn"]) }' "$log" || fail "overlapping gains nothing"
