#!/bin/sh
# usage: starts.sh DORY MAKE_RANDOM_MODEL
#
# A search whose first decision does not fit leaves more of L2 free in the next one. Of this network in 3,000 bytes it once
# ended there, with the plan of the fewest bytes: 124,968 cycles, and 65,610 in fewer bytes.
set -eu
dory=$1 make_random_model=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cycles() { # BYTES of L2
  "$dory" plan "$folder/network.onnx" --target gap8 --l2-bytes "$1" 2>> "$folder/warnings" | sed -n 's/ cycles in all.*//p'
}

"$make_random_model" 6057 "$folder/network.onnx" graph
with=$(cycles 3000) with_fewer=$(cycles 2750)
echo "cycles in 3000 bytes of L2: $with, in 2750: $with_fewer"
[ -n "$with" ] && [ -n "$with_fewer" ] && [ "$with" -le "$with_fewer" ]
