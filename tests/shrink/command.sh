#!/usr/bin/env bash
# A network that loses channels, on the command line: with the option and without.
#
# usage: command.sh DORY MODELS
set -euo pipefail
dory=$1 model=$2/mlperf_tiny/vww_mobilenet_v1_0.25_96/model.tflite
[ -f "$model" ] || { echo "no $model" >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "FAILED: $*" >&2; exit 1; }

"$dory" inspect --quiet "$model" >whole.txt
grep -q ' 224 of   256$' whole.txt || fail "inspect does not say what is left out"
"$dory" inspect --quiet "$model" --all-channels >all.txt
! grep -q 'Dead channels' all.txt || fail "inspect --all-channels leaves out channels"
diff all.txt <(sed '/^Dead channels/,$d' whole.txt | sed '$d') || fail "inspect shows another network"

for option in "" --all-channels; do
  mkdir "with$option"
  # shellcheck disable=SC2086 # no option is no argument
  "$dory" generate --quiet "$model" --target gap8 --name net --check golden --dump-tensors all --output-dir "with$option" $option
done
bytes=$(stat -c %s with/net_weights.bin)
[ "$bytes" -le 60000 ] || fail "$bytes bytes of weights"
[ "$(stat -c %s with--all-channels/net_weights.bin)" -gt 200000 ] || fail "--all-channels leaves out weights"
grep -q '^ *25  32 of 256 channels: ' with/net_plan.txt || fail "the plan does not list channels"
! grep -q 'dead channels' with--all-channels/net_plan.txt || fail "the plan lists channels though all are there"
grep -q ', 32 of 256 channels \*/' with/net_check.c || fail "the check does not say what it compares"
interface() { grep -v 'NET_L2_BYTES\|NET_FLASH_BYTES\|NET_INPUT_OFFSET' "$1/net.h"; }
diff <(interface with) <(interface with--all-channels) || fail "the interface is another"

# A gather in front of a dense layer: with the option it stays behind it, and both give the same.
model=$2/exporters/cls_token_gather/model.onnx
[ -f "$model" ] || exit 0
"$dory" inspect --quiet "$model" >early.txt
grep -q '^0 of [0-9]* channels; 864 of 12384 MACs' early.txt || fail "inspect does not say what an early gather spares"
"$dory" inspect --quiet "$model" --all-channels >late.txt
grep -q '^3 layers, 12384 MACs' late.txt || fail "--all-channels moves a gather"
input=$(find "$2/exporters/cls_token_gather" -name "in0.npy" | head -n 1)
[ -n "$input" ] || exit 0
diff <("$dory" run --quiet "$model" --input "$input") <("$dory" run --quiet "$model" --input "$input" --all-channels) ||
  fail "an early gather gives something else"
