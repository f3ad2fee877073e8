#!/usr/bin/env bash
# Classifies the test images of apps/digits with `dory run`, the golden model, and compares with what the host firmware
# answers. Then the accuracies: the golden model's is the one that accuracy.json records, and that is within one point of the
# float model's.
# Usage: golden.sh DORY FOLDER DIGITS_DEMO
set -euo pipefail
dory=$1 folder=$2 digits_demo=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
image_bytes=64

fail() { echo "FAILED: $*" >&2; exit 1; }
recorded() { sed -n "s/.*\"$1\": \([0-9.]*\).*/\1/p" "$folder/accuracy.json"; }

images=$(stat -c %s "$folder/test_labels.bin")
mapfile -t labels < <(od -An -v -tu1 -w1 "$folder/test_labels.bin" | tr -d ' ')
od -An -v -tu1 -w1 "$folder/test_images.bin" | tr -d ' ' | split -a 3 -d -l $image_bytes - "$work/image"

# A line an image: label, class, largest logit. dory prints the name of the output and then its ten values.
for ((image = 0; image < images; image++)); do
  "$dory" run "$folder/digits.onnx" --input "$work/image$(printf %03d "$image")" |
    awk -v label="${labels[image]}" '{ best = 2; for (i = 3; i <= NF; i++) if ($i > $best) best = i; print label, best - 2, $best }'
done >"$work/golden"

awk '$1 != $2 { printf "image %d: a %d taken for a %d\n", NR - 1, $1, $2 }' "$work/golden" >"$work/golden_mistakes"
"$digits_demo" >"$work/digits" || fail "digits_demo ended with status $?"
diff "$work/golden_mistakes" <(grep '^image' "$work/digits") || fail "digits_demo and dory run answer differently"

correct=$((images - $(wc -l <"$work/golden_mistakes")))
[ "$correct" = "$(recorded integer_correct)" ] || fail "dory run: $correct right, recorded $(recorded integer_correct)"
awk -v a="$(recorded float_percent)" -v b="$(recorded integer_percent)" 'BEGIN { exit !(a - b <= 1 && b - a <= 1) }' ||
  fail "the integer model is not within one point of the float model"
echo "$images images: the golden model and digits_demo agree; $correct right"
