#!/usr/bin/env bash
# dory run and dory plan as commands: what they print and write, and what they say of inputs that do not fit the network.
# Usage: run_and_plan.sh DORY DIGITS_MODEL; in a folder of its own.
set -u
dory=$1 digits=$2 source=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
failures=0

fail() { echo "FAILED: $*" >&2; failures=$((failures + 1)); }

# expect STATUS TEXT COMMAND...: the exit status, and a part of what it prints
expect() {
  local status=$1 text=$2 actual
  shift 2
  "$@" >output 2>&1
  actual=$?
  [ "$actual" = "$status" ] || fail "status $actual, not $status: $* ($(cat output))"
  [ -z "$text" ] || grep -qF -- "$text" output || fail "no '$text' in the output of $*: $(cat output)"
}

cp "$digits" digits.onnx || exit 2

# ---- dory run ----

yes 3, | head -n 64 >input.txt
expect 0 "" "$dory" run digits.onnx --input input.txt
cp output printed.txt
expect 0 "" "$dory" run digits.onnx --input input.txt --output-dir layers
[ "$(ls layers | wc -l)" -eq 5 ] || fail "files for the 5 layers: $(ls layers)"
diff <(sed 's/^[^:]*://' printed.txt | xargs -n 1) <(grep -v '^#' layers/out_layer4.txt | tr -d ,) ||
  fail "what is printed and what is written"
expect 0 "" "$dory" run digits.onnx --input input.txt --output-dir layers # the folder is there

head -n 63 input.txt >short.txt
expect 1 "short.txt has 63 values; tensor '0' has 8 x 8 x 1 = 64 elements" "$dory" run digits.onnx --input short.txt
{ head -n 63 input.txt; echo 256,; } >bright.txt
expect 1 "bright.txt: value 63 is 256; '0' can be 0 to 255" "$dory" run digits.onnx --input bright.txt
expect 1 "the network has 1 inputs, the command line 2" "$dory" run digits.onnx --input input.txt --input input.txt
expect 1 "cannot make directory input.txt/below" "$dory" run digits.onnx --input input.txt --output-dir input.txt/below
expect 2 "--input-bits is 2, 4 or 8" "$dory" run digits.onnx --input input.txt --input-bits 7

# an input of 2 signed bits has other limits
expect 1 "value 0 is 3; '0' can be -2 to 1" "$dory" run digits.onnx --input input.txt --input-bits 2 --input-signed
expect 0 "" "$dory" run digits.onnx --input <(yes 1 | head -n 64) --input-bits 2 --input-signed --exact-add

# ---- expected values that are not the model's ----

cp input.txt layers/
sed '2s/.*/-7,/' layers/out_layer4.txt >changed.txt && mv changed.txt layers/out_layer4.txt
expect 0 "out_layer4.txt differs from the model in 1 of 10 values; at (0, 0, 0) it has -7" \
  "$dory" generate digits.onnx --name net --output-dir net --check layers
# what follows from a layer that differs is no warning of its own: another input's values, from the first layer on
mkdir other
cp layers/out_layer*.txt other/
sed '1,20s/3/200/' input.txt >other/input.txt
expect 0 "out_layer0.txt differs from the model" "$dory" generate digits.onnx --name net --output-dir net --check other
[ "$(grep -c 'warning: .*differs from the model' output)" = 1 ] || fail "one wrong file, several warnings: $(cat output)"
grep -q "out_layer1.txt differs, too, in [0-9]* of [0-9]* values: this follows from layer 0" output || fail "what follows: $(cat output)"
sed '2s/.*/300,/' layers/out_layer0.txt >changed.txt && mv changed.txt layers/out_layer0.txt
expect 1 "out_layer0.txt" "$dory" generate digits.onnx --name net --output-dir net --check layers

# ---- a check against files that are not there ----

expect 1 "check: missing: does not exist" "$dory" generate digits.onnx --name net --output-dir net --check missing
expect 1 "check: input.txt: is no folder" "$dory" generate digits.onnx --name net --output-dir net --check input.txt
mkdir empty misspelt
touch misspelt/out_layer_0.txt
expect 1 "check: empty holds no input.txt and no out_layer<n>.txt" "$dory" generate digits.onnx --name net --output-dir net --check empty
expect 1 "misspelt holds no input.txt" "$dory" generate digits.onnx --name net --output-dir net --check misspelt
cp input.txt misspelt/
cp layers/out_layer1.txt misspelt/out_layer71.txt
expect 0 "2 files have names like a check's and are not read, the first is out_layer71.txt" \
  "$dory" generate digits.onnx --name net --output-dir net --check misspelt
echo '{"onnx_file": "digits.onnx", "n_inputs": 3}' >three.json
cp input.txt misspelt/input_0.txt
expect 1 "3 inputs are asked for (n_inputs); misspelt has no input_1.txt" \
  "$dory" generate --config three.json --name net --output-dir net --check misspelt

# ---- dory plan ----

expect 0 "Conv_13" "$dory" plan digits.onnx --target gap8
expect 0 "all layers" "$dory" plan digits.onnx --target gap8 --cores 1
expect 1 "does not fit L1" "$dory" plan digits.onnx --target gap8 --l1-bytes 11000
grep -qE "error: node '[A-Za-z]+_[0-9]+': does not fit L1: its smallest tile needs [0-9]+ bytes, there are [0-9]+ beside the stacks$" output ||
  fail "layer, level, bytes needed and there: $(cat output)"
expect 1 "cannot read missing.elf" "$dory" plan digits.onnx --target gap8 --firmware missing.elf
expect 1 "cannot read missing.elf" "$dory" plan digits.onnx --target gap8 --firmware missing.elf --l2-bytes 100k

# flash that is read where it lies: weights are linked, and neither they nor tables take L2
expect 0 "bytes linked into the program" "$dory" plan digits.onnx --target cortex-m4
grep -q ' 0 of tables' output || fail "tables in flash take L2: $(cat output)"
expect 0 "Target cortex-m55" "$dory" plan digits.onnx --target cortex-m55 --weights flash
for weights in linked flash; do # both lie there
  sed 's/"flash": [0-9]*/"flash": 1000/' "$source/generator/target/cortex-m4.json" >small_flash.json
  expect 1 "does not fit the flash" "$dory" plan digits.onnx --target small_flash.json --weights $weights
done
! grep -q 'linked into the program' output || fail "weights that are to be copied are linked: $(cat output)"
expect 0 "cycles stand for instructions" "$dory" plan digits.onnx --target cortex-m4
expect 1 "costs of cortex-m4 are instructions" "$dory" explore digits.onnx --target cortex-m4
expect 1 "there are host, virt, gap8, cortex-m4" "$dory" plan digits.onnx --target cortex-m5
expect 1 "'cores': 2 cores; cortex-m7 has 1" "$dory" plan digits.onnx --target cortex-m7 --cores 2

# more than the machine has
expect 1 "'cores': 9 cores; gap8 has 8" "$dory" plan digits.onnx --target gap8 --cores 9
expect 1 "'cores': 900 cores; gap8 has 8" "$dory" probe digits.onnx --target gap8 --cores 900
expect 1 "error: setting 'l1_bytes': 65540 bytes of L1; gap8 has 65536" "$dory" generate digits.onnx --target gap8 --l1-bytes 65540
expect 1 "'l2_bytes': 524292 bytes of L2; virt has 524288" "$dory" report digits.onnx --target virt --l2-bytes 524292
expect 1 "does not fit L2" "$dory" plan digits.onnx --target gap8 --l2-bytes 100
grep -qE "error: node 'Conv_13': does not fit L2: .* [0-9]{3,} bytes live at once, there are [0-9]+$" output ||
  fail "layer, level, bytes needed and there: $(cat output)"
expect 0 "all layers" "$dory" plan digits.onnx --target gap8 --l1-bytes 32k --l2-bytes 256k
cp output sizes.txt
expect 0 "" "$dory" plan digits.onnx --target gap8 --l1-bytes 32768 --l2-bytes 262144
cmp output sizes.txt || fail "32k and 256k are no sizes"
# The same as report.json, for programs.
expect 0 "" "$dory" plan digits.onnx --target gap8 --json
cp output plan.json
expect 0 "" "$dory" report digits.onnx --target gap8 --output-dir reported
cmp plan.json reported/report.json || fail "dory plan --json is not report.json"
rm -r reported plan.json

# Clocks: a slower controller makes more cycles of the cluster; the header has the pair.
cycles() { "$dory" plan digits.onnx --target gap8 --clocks "$1" | sed -n 's/^\([0-9]*\) cycles in all.*/\1/p'; }
[ "$(cycles 50/250)" -gt "$(cycles 250/250)" ] || fail "a slow controller costs nothing"
[ "$(cycles 50/100)" = "$(cycles 125/250)" ] || fail "plans depend on more than the ratio of clocks"
expect 2 "clocks '250': two numbers of MHz are expected" "$dory" plan digits.onnx --target gap8 --clocks 250
expect 1 "251 MHz for the cluster; gap8 can have 16 to 250" "$dory" plan digits.onnx --target gap8 --clocks 250/251
expect 0 "" "$dory" generate digits.onnx --target gap8 --clocks 250/175 --check golden --output-dir clocks
grep -q '^#define DIGITS_CONTROLLER_HERTZ *250000000 ' clocks/digits.h || fail "no clock of the controller in the header"
grep -q '^#define DIGITS_CLUSTER_HERTZ *175000000 ' clocks/digits.h || fail "no clock of the cluster in the header"
grep -q 'GAP8_CLOCKS(DIGITS)' clocks/digits_check.c || fail "the check does not run at the plan's clocks"
rm -r clocks

expect 2 "dory plan: error: --input-bits is 2, 4 or 8" "$dory" plan digits.onnx --input-bits 3
expect 2 "no MODEL" "$dory" plan
expect 0 "Usage: dory plan" "$dory" plan --help
[ "$(find . -name '*.c' ! -path './net/*')" = "" ] || fail "dory plan wrote sources"

# the original's reserve for code counts for all three commands
echo '{"onnx_file": "digits.onnx", "code reserved space": 400000}' >reserved.json
expect 0 "" "$dory" plan --target gap8 --config reserved.json
cp output plan.txt
expect 0 "" "$dory" plan digits.onnx --target gap8 --l2-bytes $((524288 - 400000))
cmp output plan.txt || fail "dory plan ignores the code reserved space"
echo '{"onnx_file": "digits.onnx", "code reserved space": 600000}' >reserved.json
for command in plan report generate; do
  expect 1 "reserves 600000 B of L2 for code; gap8 has 524288 B" "$dory" $command --target gap8 --config reserved.json
done

[ $failures -eq 0 ] && echo "run_and_plan.sh: all as expected"
exit $((failures > 0))
