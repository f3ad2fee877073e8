#!/usr/bin/env bash
# Random networks of scripts that write models, as firmware, each exact against the golden interpreter: attention, norms, LSTM,
# transformers of integers. The scripts' own tests compare that with numpy.
#
# usage: models.sh PYTHON DORY TARGET COUNT SCRIPT...
#
# DORY_RANDOM_MODELS of the environment is another COUNT of each script's, DORY_RANDOM_MODELS_FROM the seed to start with.
# DORY_GVSOC_ROOT, DORY_GVSOC_SIRACUSA_ROOT: gvsoc's folders.
# A line for each batch, and for each network that is refused or wrong; at the end lines of CSV: target, script, first and last seed, networks that
# are exact, wrong and refused. Exit status 0: none is wrong, and no more than half of them are refused.
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

declare -A exact wrong refused # networks, by script

# A line for batch/CMakeLists.txt, if the generator has a plan. A refusal says why; whatever else ends the generator is a fault.
add_model() { # SCRIPT MODEL
  local name=model_$(name_of "$1")_$(basename "${2%.*}" | tr -c 'A-Za-z0-9\n' _) status=0
  "$dory" plan "$2" --target "${description:-$target}" --quiet >"$work/log" 2>&1 || status=$?
  if [ $status -eq 0 ]; then
    echo "$name $2" >>"$work/networks"
  elif [ $status -eq 1 ] && grep -q 'error: ' "$work/log"; then
    refused[$1]=$((refused[$1] + 1))
    echo "refused: $name: $(sed -n '/error: /{s/.*error: //p;q}' "$work/log")"
  else
    wrong[$1]=$((wrong[$1] + 1))
    echo "wrong: $name: dory plan ended with status $status"
  fi
}

add_models() { # SCRIPT FIRST COUNT
  local model folder=$work/$(name_of "$1")
  mkdir "$folder"
  "$python" -B "$1" --write "$folder" "$3" "$2" >"$work/log" || { [ $? -eq 77 ] && cat "$work/log" && exit 77; fail "$work/log"; }
  for model in "$folder"/*; do add_model "$1" "$model"; done
}

count_networks() { # FILE SCRIPT
  grep -c "^model_$(name_of "$2")_" "$1" || true
}

for script in "$@"; do exact[$script]=0 wrong[$script]=0 refused[$script]=0; done
for ((first = seed; first < seed + count; first += batch)); do
  : >"$work/networks"
  left=$((seed + count - first))
  for script in "$@"; do
    add_models "$script" "$first" "$((left < batch ? left : batch))"
  done
  run_batch
  if [ -s "$work/wrong" ]; then print_failures; sed 's/^/wrong: /' "$work/wrong"; fi
  for script in "$@"; do
    failed=$(count_networks "$work/wrong" "$script")
    wrong[$script]=$((wrong[$script] + failed))
    exact[$script]=$((exact[$script] + $(count_networks "$work/networks" "$script") - failed))
    rm -rf "${work:?}/$(name_of "$script")"
  done
  remove_networks model
  echo "seeds $first to $((first + (left < batch ? left : batch) - 1)): $(wc -l <"$work/networks") networks run, $(wc -l <"$work/wrong") wrong"
done

status=0
for script in "$@"; do
  echo "$target,$(name_of "$script"),$seed,$((seed + count - 1)),${exact[$script]},${wrong[$script]},${refused[$script]}"
  ((wrong[$script] == 0 && exact[$script] >= refused[$script] && exact[$script] > 0)) || status=1
done
exit $status
