#!/usr/bin/env bash
# run_gvsoc.py --camera with what it cannot show: exit status and message.
# Usage: arguments.sh RUN_GVSOC PYTHON ROOT PICTURES ELF WORK
set -euo pipefail
run_gvsoc=$1 python=$2 root=$3 pictures=$4 elf=$5 work=$6
rm -rf "$work"
mkdir -p "$work/blind"
failures=0

# expect STATUS MESSAGE ROOT PICTURES
expect() {
  local status=0
  "$python" "$run_gvsoc" --root "$3" --camera "$4" "$elf" >"$work/log" 2>&1 || status=$?
  if [ $status -ne "$1" ] || ! grep -qF -- "$2" "$work/log"; then
    echo "FAILED: --camera $4: status $status, not $1, or no '$2' in: $(head -c 500 "$work/log")" >&2
    failures=1
  fi
}

head -c 79055 "$pictures/picture-0.raw" >"$work/short.raw"
expect 125 'must have 79056 bytes' "$root" "$work/short.raw"
expect 125 'must have 79056 bytes' "$root" "$work/none-%d.raw"
expect 125 'a name that ends in .raw' "$root" "$work/short.pgm"
expect 125 'with %d for 0, 1, 2' "$root" "$work/%s.raw"

# A gvsoc without the camera's model.
for part in "$root"/*; do
  ln -s "$part" "$work/blind/"
done
if [ -d "$root/python" ]; then
  rm "$work/blind/python"
  mkdir "$work/blind/python"
  expect 77 'has no model of the camera' "$work/blind" "$pictures/picture-%d.raw"
fi
exit $failures
