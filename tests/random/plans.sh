#!/usr/bin/env bash
# Random networks of scripts that write models: there is a plan for each, on each target.
#
# usage: plans.sh PYTHON DORY FIRST_SEED COUNT SCRIPT...
#
# A line for each network that has none. Exit status 0: no plan is wrong, and at most one network in a hundred is refused.
set -euo pipefail
[ $# -ge 5 ] || { sed -n '4s/^# //p' "$0" >&2; exit 2; }
python=$1 dory=$2 first=$3 count=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
plans=0 refused=0 wrong=0

for script in "$@"; do
  rm -rf "$work/models" && mkdir "$work/models"
  "$python" -B "$script" --write "$work/models" "$count" "$first" >"$work/log" || { status=$?; cat "$work/log"; exit $status; }
  for model in "$work/models"/*; do
    for target in gap8 siracusa cortex-m4; do
      plans=$((plans + 1)) status=0
      "$dory" plan "$model" --target $target --quiet >"$work/log" 2>&1 || status=$?
      [ $status -eq 0 ] && continue
      if [ $status -eq 1 ] && grep -q 'error: ' "$work/log" && ! grep -q 'a fault of dory' "$work/log"; then
        refused=$((refused + 1))
      else
        wrong=$((wrong + 1))
      fi
      echo "$script $(basename "$model") $target: status $status, $(grep -m1 'error: ' "$work/log")"
    done
  done
done
echo "$plans plans of seeds $first to $((first + count - 1)): $wrong wrong, $refused refused"
((wrong == 0 && plans > 0 && refused * 100 <= plans))
