#!/usr/bin/env bash
# Random chains of layers of which some take turns, as firmware, each exact against the golden interpreter, with its layers
# observed where that is possible and without.
#
# usage: firmware.sh MAKE_RANDOM_MODEL DORY TARGET COUNT
#
# DORY_RANDOM_BLOCKS of the environment is another COUNT, DORY_RANDOM_BLOCKS_FROM the seed to start with. Networks without a
# block are passed over. Exit status 77: the target's simulator is not there.
set -euo pipefail
[ $# -eq 4 ] || { sed -n '5s/^# //p' "$0" >&2; exit 2; }
make_random_model=$1 target=$3 count=${DORY_RANDOM_BLOCKS:-$4} seed=${DORY_RANDOM_BLOCKS_FROM:-1}
export DORY_GENERATOR=$2
for number in "$count" "$seed"; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || { echo "$(basename "$0"): '$number' of the environment is no number" >&2; exit 2; }
done
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
model=$work/model.onnx

exact=0 passed_over=0
for (( ; exact < count; seed++)); do
  "$make_random_model" "$seed" "$model" chain >"$work/network"
  sizes=() # now and then less memory
  if ((seed % 3 == 0)); then sizes+=(--l1-bytes "$((14000 + seed % 7 * 2000))"); fi
  if ((seed % 4 == 0)); then sizes+=(--l2-bytes "$((20000 + seed % 5 * 8000))"); fi
  if ! "$DORY_GENERATOR" plan "$model" --target "$target" --blocks always "${sizes[@]}" >"$work/plan" 2>&1 ||
    ! grep -q '^block: ' "$work/plan"; then # refused for want of memory, or nothing takes turns
    passed_over=$((passed_over + 1))
    continue
  fi
  status=0
  "$top/scripts/verify" "$model" --target "$target" --blocks always "${sizes[@]}" --quiet >"$work/log" 2>&1 || status=$?
  if [ "$status" -eq 77 ]; then cat "$work/log"; exit 77; fi
  if [ "$status" -ne 0 ]; then
    echo "seed $seed ${sizes[*]}: $(cat "$work/network")"
    cat "$work/log"
    exit 1
  fi
  exact=$((exact + 1))
done
echo "$exact networks with blocks exact on $target, $passed_over passed over, the last one of seed $((seed - 1))"
