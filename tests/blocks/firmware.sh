#!/usr/bin/env bash
# Random chains of layers of which some take turns, as firmware, each exact against the golden interpreter, with its layers
# observed where that is possible and without.
#
# usage: firmware.sh MAKE_RANDOM_MODEL DORY TARGET COUNT
#
# DORY_RANDOM_BLOCKS of the environment is another COUNT, DORY_RANDOM_BLOCKS_FROM the seed to start with. Networks without a
# block are passed over. DORY_GVSOC_ROOT, DORY_GVSOC_SIRACUSA_ROOT: gvsoc's folders.
set -euo pipefail
[ $# -eq 4 ] || { sed -n '5s/^# //p' "$0" >&2; exit 2; }
make_random_model=$1 dory=$2 target=$3 count=${DORY_RANDOM_BLOCKS:-$4} seed=${DORY_RANDOM_BLOCKS_FROM:-1}
source "$(dirname "$0")/batches.sh"
open_batches chain
batch=25 # networks that are configured and built at once

# A line of a network with a block, for batch/CMakeLists.txt; false: there is none in this one, or it was refused for want of
# memory. Now and then there is less memory.
add_network() {
  local seed=$1 model=$work/$1.onnx sizes=() options=()
  "$make_random_model" "$seed" "$model" chain >"$work/$seed.text" || exit 1 # not passed over: so would all others be, for ever
  if ((seed % 3 == 0)); then sizes+=(L1 "$((14000 + seed % 7 * 2000))"); fi
  if ((seed % 4 == 0)); then sizes+=(L2 "$((20000 + seed % 5 * 8000))"); fi
  for ((i = 0; i < ${#sizes[@]}; i += 2)); do options+=("--${sizes[i],,}-bytes" "${sizes[i + 1]}"); done
  "$dory" plan "$model" --target "$target" --blocks always "${options[@]}" 2>&1 | grep '^block: ' >/dev/null || return 1
  echo "chain_$seed $model ${sizes[*]}" | sed 's/\(L[12]\) /\1_BYTES /g' >>"$work/networks"
}

fail() { # LOG
  tail -n 60 "$1"
  sed 's/^chain_//' "$work/wrong" | while read -r number; do
    echo "seed $number: $(grep "^chain_$number " "$work/networks"): $(cat "$work/$number.text")"
  done
  exit 1
}

exact=0 passed_over=0
while ((exact < count)); do
  : >"$work/networks"
  for ((left = count - exact < batch ? count - exact : batch; left > 0; seed++)); do
    if add_network "$seed"; then left=$((left - 1)); else passed_over=$((passed_over + 1)); fi
  done
  run_batch
  [ ! -s "$work/wrong" ] || fail "$work/log"
  exact=$((exact + $(wc -l <"$work/networks")))
  echo "$exact networks with blocks exact on $target, $passed_over passed over, the last one of seed $((seed - 1))"
  remove_networks chain
  rm -f "$work"/*.onnx "$work"/*.text
done
