#!/usr/bin/env bash
# Random networks of scripts that write models, as firmware, each exact against the golden interpreter: attention, norms, LSTM,
# transformers of integers. The scripts' own tests compare that with numpy.
#
# usage: models.sh PYTHON DORY TARGET COUNT SCRIPT...
#
# DORY_RANDOM_MODELS of the environment is another COUNT of each script's, DORY_RANDOM_MODELS_FROM the seed to start with.
# DORY_GVSOC_ROOT, DORY_GVSOC_SIRACUSA_ROOT: gvsoc's folders.
set -euo pipefail
[ $# -ge 5 ] || { sed -n '5s/^# //p' "$0" >&2; exit 2; }
python=$1 dory=$2 target=$3 count=${DORY_RANDOM_MODELS:-$4} seed=${DORY_RANDOM_MODELS_FROM:-1}
shift 4
source "$(dirname "$0")/batches.sh"
open_batches model
batch=20 # networks of a script that are configured and built at once
if [ "$target" = siracusa ]; then # all that its engine can compute is its, the rest is plain C's: tests of GAP8 have the cores' kernels
  description=$work/siracusa.json
  sed 's/"xpulpv2", //' "$here/../../generator/target/siracusa.json" >"$description"
fi

fail() { # LOG
  tail -n 60 "$1"
  exit 1
}

name_of() { basename "${1%/*}"_"$(basename "$1" .py)"; } # SCRIPT, of which two folders may have one

# The models of a script as lines for batch/CMakeLists.txt.
write_models() { # SCRIPT FIRST COUNT
  local name
  name=$(name_of "$1")
  mkdir "$work/$name"
  "$python" -B "$1" --write "$work/$name" "$3" "$2" >"$work/log" || { [ $? -eq 77 ] && cat "$work/log" && exit 77; fail "$work/log"; }
  for model in "$work/$name"/*; do
    "$dory" plan "$model" --target "${description:-$target}" --quiet >/dev/null 2>&1 || continue # for want of memory, which a plan says
    echo "model_${name}_$(basename "${model%.*}" | tr -c 'A-Za-z0-9\n' _) $model" >>"$work/networks"
  done
}

exact=0
for ((first = seed; first < seed + count; first += batch)); do
  : >"$work/networks"
  left=$((seed + count - first))
  for script in "$@"; do
    write_models "$script" "$first" "$((left < batch ? left : batch))"
  done
  run_batch
  exact=$((exact + $(wc -l <"$work/networks")))
  echo "$exact networks exact on $target, seeds $seed to $((first + (left < batch ? left : batch) - 1))"
  remove_networks model
  for script in "$@"; do rm -rf "${work:?}/$(name_of "$script")"; done
done
((exact * 2 >= count * $#)) || { echo "more than half of the networks were passed over"; exit 1; }
