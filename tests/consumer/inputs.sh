#!/usr/bin/env bash
# dory new around networks whose plan fills L2 and whose inputs are large: what it writes links as it is, and runs.
# Usage: inputs.sh TARGET SOURCE WORK PREFIX [GVSOC_ROOT]      dory is installed in PREFIX
set -euo pipefail
target=$1 source=$2 work=$3 prefix=$4
export DORY_GVSOC_ROOT=${5:-}

fail() { echo "FAILED: $*" >&2; exit 1; }

rm -rf "$work"
mkdir -p "$work/home"
cp -r "$prefix" "$work/home/.local"
cd "$work"

try() { # NAME INPUT_BYTES MAKE_MODEL_ARGUMENT...
  local name=$1 input_bytes=$2 build=$1/build/$target
  shift 2
  "$source/scripts/make_model.py" "$1" "$name.onnx" "${@:2}" >log 2>&1 || { cat log; fail "$name: no model"; }
  home/.local/bin/dory new "$name" "$name.onnx" --quiet
  (cd "$name" && cmake --preset "$target" && cmake --build --preset "$target" --target firmware) >log 2>&1 || { tail -n 20 log; fail "$name does not link"; }
  grep -qE "_INPUT_BYTES $input_bytes\$" "$build/${name}_network/$name.h" || fail "the input of $name has not $input_bytes bytes"
  if [ "$target" = virt ] && command -v qemu-system-riscv32 >/dev/null; then
    (cd "$name" && ctest --preset "$target" -R '^firmware$') >log 2>&1 || { cat log; fail "$name does not run"; }
  fi
  echo "$name: $(sed -n 's/^L2 beside it: //p' "$build/${name}_network/${name}_plan.txt")"
}

try grey_324x244 $((324 * 244)) dronet --resolution 244x324
try colour_128x128 $((128 * 128 * 3)) mobilenet_v1 --width-multiplier 0.5 --resolution 128
try colour_224x224 $((224 * 224 * 3)) mobilenet_v1 --width-multiplier 0.5 --resolution 224
