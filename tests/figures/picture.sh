#!/usr/bin/env bash
# The picture of README.md: the memory plan of MobileNetV1-1.0-128 on GAP8. Drawn anew and compared, or (--write) put there.
# usage: picture.sh DORY MODEL SOURCE WORK [--write]
set -euo pipefail
dory=$1 model=$2 source=$3 work=$4
picture=$source/docs/pictures/memory.svg

mkdir -p "$work"
"$dory" report "$model" --target gap8 --output-dir "$work" >"$work/report.log"
"$source/scripts/draw_memory.py" "$work/report.json" "$work/memory.svg"
if [ "${5:-}" = --write ]; then
  cp "$work/memory.svg" "$picture"
elif ! cmp "$work/memory.svg" "$picture"; then
  echo "the plan is another one than that of $picture; scripts/figures picture draws it" >&2
  exit 1
fi
