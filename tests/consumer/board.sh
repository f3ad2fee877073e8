#!/usr/bin/env bash
# dory new --board ai-deck: the project that it writes builds as it is, up to the image for cfloader, and its answers are those of the
# golden model for what the camera shows: a small grey input, colours, an input as large as the frame. What is no picture is refused.
# Usage: board.sh TARGET SOURCE WORK PREFIX PYTHON [GVSOC_ROOT]      dory is installed in PREFIX
set -euo pipefail
target=$1 source=$2 work=$3 prefix=$4 python=$5
export DORY_GVSOC_ROOT=${6:-} DORY_CPX_PORT=5021

fail() { echo "FAILED: $*" >&2; exit 1; }
expect_error() { # TEXT ARGUMENT...
  local text=$1
  shift
  if "$dory" new nothing --board ai-deck "$@" >log 2>&1; then fail "no error: dory new $*"; fi
  grep -qF -- "$text" log || { cat log; fail "no '$text'"; }
  [ ! -e nothing ] || fail "a failed run left a folder"
}

rm -rf "$work"
mkdir -p "$work/home"
cp -r "$prefix" "$work/home/.local"
cd "$work"
dory=$PWD/home/.local/bin/dory run_gvsoc=$PWD/home/.local/share/dory/cmake/gvsoc/run_gvsoc.py

build() { # NAME MODEL
  "$dory" new "$1" "$2" --board ai-deck --quiet
  (cd "$1" && cmake --preset "$target" && cmake --build --preset "$target" --target firmware firmware_demo) >log 2>&1 ||
    { tail -n 20 log; fail "$1 does not link"; }
  [ "$target" != gap8 ] || (cd "$1" && cmake --build --preset gap8 --target firmware_image) >log 2>&1 || { cat log; fail "$1: no image"; }
  [ "$target" != gap8 ] || [ -s "$1/build/gap8/firmware.img" ] || fail "$1: no image"
}
look() { # NAME MODEL SHAPE [--slow]: frames, packets and lines against the golden model
  local pictures=$PWD/$1/build/$target/aideck_pictures program=$PWD/$1/build/$target/firmware_demo run=()
  if [ "$target" = gap8 ]; then
    [ -n "$DORY_GVSOC_ROOT" ] || return 0
    run=("$run_gvsoc" --root "$DORY_GVSOC_ROOT" --camera "$pictures/picture-%d.raw" --cpx)
  fi
  "$python" "$source/tests/aideck/compare.py" project "$pictures" "$dory" "${@:2}" "${run[@]}" "$program" >log 2>&1 || { tail -n 20 log; fail "$1"; }
  echo "$1: $(tail -n 1 log)"
}
make_model() { "$source/scripts/make_model.py" "$2" "$1" "${@:3}" >log 2>&1 || { cat log; fail "no model $1"; }; }

# what stops it
expect_error "there is no board 'deck'" "$source/apps/digits/digits.onnx" --board deck
expect_error "'settings' cannot be the network's name" "$source/apps/digits/digits.onnx" --name settings
expect_error "it has 2 inputs" "$source/tests/models/graph.onnx"

cp "$source/apps/digits/digits.onnx" model.onnx # a name that the board has for itself, too
build digits model.onnx
look digits model.onnx 8x8
(cd digits && ctest --preset "$target" -R '^firmware$') >log 2>&1 || { cat log; fail "the project's own test"; }

# The clock of the SPI that pictures go by: of ten frames two pictures are complete at 10 MHz, and at a fifth of that none.
if [ "$target" = gap8 ]; then
  if (cd digits && cmake --preset gap8 -DDORY_CPX_SPI_HERTZ=fast) >log 2>&1; then fail "a clock of 'fast'"; fi
  grep -qF "DORY_CPX_SPI_HERTZ fast" log || { cat log; fail "no word of the clock"; }
  sed -i 's/define STREAM 0/define STREAM 1/' digits/settings.h
  for hertz in 2000000 10000000; do
    (cd digits && cmake --preset gap8 -DDORY_CPX_SPI_HERTZ=$hertz && cmake --build --preset gap8 --target firmware_demo) >log 2>&1 || { cat log; fail "$hertz"; }
    [ -n "$DORY_GVSOC_ROOT" ] || continue
    "$run_gvsoc" --root "$DORY_GVSOC_ROOT" --camera "$PWD/digits/build/gap8/aideck_pictures/picture-%d.raw" --cpx --cpx-stream stream digits/build/gap8/firmware_demo >log
    echo "$hertz: $(grep -o '[0-9]* pictures to the PC' log)" | tee -a clocks
  done
  [ -z "$DORY_GVSOC_ROOT" ] || [ "$(cat clocks)" = $'2000000: 0 pictures to the PC\n10000000: 2 pictures to the PC' ] || fail "pictures at these clocks"
fi

if ! "$python" -c 'import numpy, onnx' 2>/dev/null; then
  echo "no python3-onnx: no further networks"
  exit 0
fi
make_model colour.onnx mobilenet_v1 --width-multiplier 0.25 --resolution 64
build colour colour.onnx
look colour colour.onnx 64x64x3

# what fills L2: both of these inputs lie in RAM
make_model grey_324x244.onnx dronet --resolution 244x324
make_model colour_224x224.onnx mobilenet_v1 --width-multiplier 0.5 --resolution 224
for name in grey_324x244 colour_224x224; do build $name $name.onnx; done
grep -q 'INPUT_IN_RAM 1' "grey_324x244/build/$target/grey_324x244_network/grey_324x244.h" || fail "the frame does not lie in RAM"
grep -q 'INPUT_IN_RAM 1' "colour_224x224/build/$target/colour_224x224_network/colour_224x224.h" || fail "the colours do not lie in RAM"
if [ "$target" = host ]; then # of these gvsoc takes minutes
  look grey_324x244 grey_324x244.onnx 244x324
  look colour_224x224 colour_224x224.onnx 224x224x3 --slow
fi
