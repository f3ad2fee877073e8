#!/usr/bin/env bash
# dory new: the project that it writes is built and tested as it tells its reader; it overwrites nothing.
# Usage: new.sh SOURCE WORK PREFIX [GVSOC_ROOT]      dory is installed in PREFIX
set -euo pipefail
source=$1 work=$2 prefix=$3
export DORY_GVSOC_ROOT=${4:-}
dory=$work/home/.local/bin/dory

fail() { echo "FAILED: $*" >&2; exit 1; }
expect_error() { # TEXT ARGUMENT...
  local text=$1
  shift
  if "$dory" new "$@" >log 2>&1; then fail "no error: dory new $*"; fi
  grep -qF -- "$text" log || { cat log; fail "no '$text'"; }
}
build() { # FOLDER PRESET
  (cd "$1" && cmake --preset "$2" && cmake --build --preset "$2" && ctest --preset "$2") >log 2>&1 || { cat log; fail "$1, $2"; }
}

rm -rf "$work"
mkdir -p "$work/home"
cp -r "$prefix" "$work/home/.local"
cd "$work"
"$dory" new project "$source/apps/digits/digits.onnx" >text
grep -q 'cmake --preset host' text || fail "it does not say how to go on"
cmp project/digits.onnx "$source/apps/digits/digits.onnx" || fail "the model is not there"
build project host
grep -q 'digits_check .*Passed' log && grep -q 'firmware .*Passed' log || { cat log; fail "tests"; }
(cd project && cmake --build --preset host --target run_firmware) | grep -q '^output 9: ' || fail "the firmware prints no outputs"
other=host # every preset once
if command -v riscv64-unknown-elf-gcc >/dev/null; then
  if [ -n "$DORY_GVSOC_ROOT" ]; then build project gap8; fi
  other=virt
fi

# two inputs, four outputs
"$dory" new several "$source/tests/models/graph.onnx" --name my_graph --quiet >text
[ ! -s text ] || fail "--quiet prints"
build several $other

# a Cortex-M: as it is, under QEMU
if command -v arm-none-eabi-gcc >/dev/null && command -v qemu-system-arm >/dev/null; then
  "$dory" new core "$source/apps/digits/digits.onnx" --board cortex-m4 >text
  grep -q 'cmake --preset m4' text || fail "it does not say how to build for a Cortex-M4"
  build core m4
  grep -q 'digits_check .*Passed' log && grep -q 'firmware .*Passed' log || { cat log; fail "tests on a Cortex-M4"; }
else
  echo "no arm-none-eabi-gcc or no qemu-system-arm: --board cortex-m4 is not looked at"
fi

# what stops it leaves nothing behind
cp project/main.c kept
expect_error "project/main.c is there already" project "$source/apps/digits/digits.onnx"
cmp project/main.c kept || fail "main.c was overwritten"
expect_error "cannot open the file" nothing missing.onnx
expect_error "'a-b' cannot be the network's name" nothing "$source/apps/digits/digits.onnx" --name a-b
expect_error "no MODEL" nothing
expect_error "there is no board 'cortex-m3'; --board takes ai-deck, cortex-m4" nothing "$source/apps/digits/digits.onnx" --board cortex-m3
[ ! -e nothing ] || fail "a failed run left a folder"
echo "dory new: built and exact"
