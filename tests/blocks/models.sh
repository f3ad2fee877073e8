#!/usr/bin/env bash
# Random networks of scripts that write models, as firmware, each exact against the golden interpreter: attention, LSTM,
# transformers of integers. The scripts' own tests compare that with numpy.
#
# usage: models.sh PYTHON DORY TARGET COUNT SCRIPT...
#
# DORY_RANDOM_MODELS of the environment is another COUNT of each script's, DORY_RANDOM_MODELS_FROM the seed to start with.
# DORY_GVSOC_ROOT: gvsoc's folder.
set -euo pipefail
[ $# -ge 5 ] || { sed -n '5s/^# //p' "$0" >&2; exit 2; }
python=$1 dory=$2 target=$3 count=${DORY_RANDOM_MODELS:-$4} seed=${DORY_RANDOM_MODELS_FROM:-1}
shift 4
for number in "$count" "$seed"; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || { echo "$(basename "$0"): '$number' of the environment is no number" >&2; exit 2; }
done
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build=$here/../../build/models-$target
mkdir -p "$build"
exec 9>"$build/lock"
flock 9 # one run at a time in this folder
rm -rf "$build/CMakeCache.txt" "$build"/model_* "$build"/bin/model_* # of the run before; objects of the kernels stay
batch=20 # networks of a script that are configured and built at once

fail() { # LOG
  tail -n 60 "$1"
  exit 1
}

run_batch() {
  cmake -G Ninja -S "$here/batch" -B "$build" -DCMAKE_BUILD_TYPE=Release -DNETWORKS="$work/networks" \
    -DCMAKE_TOOLCHAIN_FILE="$here/../../toolchains/$target.cmake" -DDORY_TARGET="$target" -DDORY_GENERATOR="$dory" \
    ${DORY_GVSOC_ROOT:+"-DDORY_GVSOC_ROOT=$DORY_GVSOC_ROOT"} >"$work/log" 2>&1 || fail "$work/log"
  cmake --build "$build" >"$work/log" 2>&1 || fail "$work/log"
  ctest --test-dir "$build" --no-tests=error --output-on-failure >"$work/log" 2>&1 || fail "$work/log"
  ! grep -q 'Skipped' "$work/log" || fail "$work/log"
}

# The models of a script as lines for batch/CMakeLists.txt.
write_models() { # SCRIPT FIRST COUNT
  local name
  name=$(basename "$1" .py)
  mkdir "$work/$name"
  "$python" -B "$1" --write "$work/$name" "$3" "$2" >"$work/log" || { [ $? -eq 77 ] && cat "$work/log" && exit 77; fail "$work/log"; }
  for model in "$work/$name"/*; do
    "$dory" plan "$model" --target "$target" --quiet >/dev/null 2>&1 || continue # for want of memory, which a plan says
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
  rm -rf "$build"/model_* "$build"/bin/model_*
  for script in "$@"; do rm -rf "${work:?}/$(basename "$script" .py)"; done
done
((exact * 2 >= count * $#)) || { echo "more than half of the networks were passed over"; exit 1; }
