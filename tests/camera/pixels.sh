#!/usr/bin/env bash
# Runs camera_check and compares frames, images and answers with pictures, a computation of its own, and the golden model.
# Usage: pixels.sh PYTHON PICTURES DORY MODEL COMMAND...     COMMAND runs camera_check
set -euo pipefail
here=$(dirname "$0") python=$1 pictures=$2 dory=$3 model=$4
shift 4
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
"$@" >"$log" || status=$?
if [ $status -eq 77 ]; then
  exit 77
fi
if [ $status -ne 0 ]; then
  cut -c -200 "$log" | tail -n 20 >&2
  exit $status
fi
"$python" "$here/compare.py" "$log" "$pictures" "$dory" "$model"
