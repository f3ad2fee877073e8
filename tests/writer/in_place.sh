#!/usr/bin/env bash
# The caches of apps/writer are given and got in one place, and the header says so.
# usage: in_place.sh DORY MODEL
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for target in gap8 virt; do
  "$1" generate "$2" --target $target --output-dir "$folder" --quiet
  for i in 1 2 3 4; do
    grep -q "^#define WRITER_INPUT_${i}_IN_OUTPUT $i " "$folder/writer.h" || { echo "$target: input $i is not in its output"; exit 1; }
    places=$(awk -v i=$i '$2 ~ "^WRITER_(IN|OUT)PUT_" i "_OFFSET$" { print $3 }' "$folder/writer.h" | sort -u | wc -l)
    [ "$places" -eq 1 ] || { echo "$target: input and output $i have $places places"; exit 1; }
  done
  if grep -q "WRITER_INPUT_0_IN_OUTPUT" "$folder/writer.h"; then echo "$target: input 0 is no part of an output"; exit 1; fi
done
echo "four caches stay in place on both targets"
