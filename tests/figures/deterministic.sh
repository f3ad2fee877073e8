#!/usr/bin/env bash
# The same model and options give the same bytes: again, on a loaded machine, many at a time, with and without address space
# randomisation, elsewhere, and in another environment.
# Usage: deterministic.sh DORY WRITE_NETWORK GRAPH.onnx
set -euo pipefail
dory=$(realpath "$1") write_network=$(realpath "$2") graph=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*" >&2; exit 1; }
"$write_network" mobilenet_v1 128 mobilenet.onnx
"$write_network" deep 40 deep.onnx
cp "$graph" graph.onnx

generate() { # FOLDER MODEL [COMMAND...]: all files that the generator writes
  local folder=$1 model=$2
  shift 2
  "$@" "$dory" generate "$work/$model.onnx" --target gap8 --config none --name net --check golden --report \
    --output-dir "$work/$folder" 2>"$work/$folder.log" || { cat "$work/$folder.log" >&2; fail "$folder"; }
}
hashes() { (cd "$work/$1" && sha256sum ./* | sort -k 2); }
expect_same() { # MODEL FOLDER
  hashes "$2" | diff "$work/$1.expected" - >/dev/null || { hashes "$2" | diff "$work/$1.expected" - >&2; fail "$1: $2 differs"; }
}

for model in graph deep mobilenet; do
  generate "$model-first" $model
  hashes "$model-first" >$model.expected
  [ "$(wc -l <$model.expected)" -ge 10 ] || fail "$model: only $(wc -l <$model.expected) files"

  generate "$model-again" $model
  expect_same $model "$model-again"
  if setarch -R true 2>/dev/null; then
    generate "$model-fixed" $model setarch -R
    expect_same $model "$model-fixed"
  else
    echo "setarch -R is not allowed here: left out"
  fi
  mkdir -p "else where"
  (cd "else where" && generate "$model-elsewhere" $model)
  expect_same $model "$model-elsewhere"
  generate "$model-environment" $model env -i LC_ALL=de_DE.UTF-8 LANG=tr_TR.UTF-8 TZ=Pacific/Kiritimati HOME=/nowhere COLUMNS=20 \
    NO_COLOR=1 MALLOC_PERTURB_=165 MALLOC_ARENA_MAX=1 "PADDING=$(printf '%5000s')"
  expect_same $model "$model-environment"
done

# Eight at a time, which is a load for most machines.
jobs=()
for i in 1 2 3 4; do
  for model in deep mobilenet; do
    generate "$model-parallel$i" $model &
    jobs+=($!)
  done
done
for job in "${jobs[@]}"; do wait "$job"; done
for i in 1 2 3 4; do
  for model in deep mobilenet; do expect_same $model "$model-parallel$i"; done
done
[ "$(cat ./*.expected | wc -l)" -ge 30 ] || fail "nothing was compared"
echo "$(cat ./*.expected | wc -l) files of 3 networks, the same bytes each of 4 and 8 times"
