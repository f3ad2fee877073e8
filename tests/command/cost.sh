#!/usr/bin/env bash
# dory cost: a table and JSON lines, layers that cannot run, input that is none.
# Usage: cost.sh DORY
set -euo pipefail
dory=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }

# The answer comes line by line, in the form of the question.
"$dory" cost --target gap8 >"$work/table" <<'TABLE'
name,operation,height,width,channels,outputs,kernel,padding,groups,normalisation
plain,convolution,64,64,32,64,1,,,
"quoted, ""so""",convolution,64,64,32,32,3,1x1,32,shift_32

too large,convolution,8,8,4,4,9x1,,,
TABLE
grep -q '^layer,cycles,kernel_cycles,l3_cycles,mac,mac_per_cycle' "$work/table" || fail "no header"
grep -q '^plain,[0-9]*,[0-9]*,[0-9]*,8388608,1[0-9]\.[0-9]*,2560,.*,dory_xpulpv2_narrow_32,$' "$work/table" || fail "a plain layer"
grep -q '^"quoted, ""so""",.*,dory_xpulpv2_depthwise_3x3_stride_1,$' "$work/table" || fail "a name in quotes"
grep -q '^too large,,,,,,,,,,,,,,,a window reads 9 elements along the height where there are 8 with padding$' "$work/table" ||
  fail "a layer that cannot run"
[ "$(wc -l <"$work/table")" = 4 ] || fail "an answer for each line that is not empty"

"$dory" cost --target gap8 >"$work/lines" <<'LINES'
{"name": "plain", "operation": "convolution", "height": 64, "width": 64, "channels": 32, "outputs": 64}
{"operation": "convolution", "height": 8, "width": 8, "channels": 4, "kernel": [9, 1]}
LINES
cycles=$(sed -n 's/^plain,\([0-9]*\),.*/\1/p' "$work/table")
grep -q "^{\"layer\":\"plain\",\"cycles\":$cycles," "$work/lines" || fail "JSON lines differ from the table"
grep -q '^{"layer":2,"reason":"a window reads 9' "$work/lines" || fail "a reason in JSON"

# The closed form is not less than the search finds.
fast=$(printf 'height,width,channels,outputs\n64,64,32,64\n' | "$dory" cost --target gap8 --fast | sed -n '2s/^2,\([0-9]*\),.*/\1/p')
[ "$fast" -ge "$cycles" ] || fail "--fast finds $fast cycles, the search $cycles"

# Input that is none: one message with line and field, exit status 1, and the lines before are answered.
refuses() { # WORDS INPUT [OPTION...]
  local words=$1 input=$2 status=0
  shift 2
  printf "$input" | "$dory" cost --target gap8 "$@" >"$work/out" 2>"$work/err" || status=$?
  [ $status = 1 ] || fail "exit status $status for '$input'"
  grep -qF "$words" "$work/err" || { cat "$work/err" >&2; fail "no '$words' for '$input'"; }
  [ "$(grep -c error: "$work/err")" = 1 ] || fail "more than one message for '$input'"
}
refuses "line 1: column 'hight'" 'hight,width\n1,1\n'
refuses "line 1: column 'width' is there twice" 'width,width\n1,1\n'
refuses "line 3: field 'stride': '0' is not a whole number from 1 to 65535" 'height,width,channels,stride\n8,8,8,1\n8,8,8,0\n'
[ "$(wc -l <"$work/out")" = 2 ] || fail "the line before is not answered"
refuses "line 2: fewer values than the 3 columns" 'height,width,channels\n8,8\n'
refuses "line 2: more values than the 2 columns" 'height,width\n8,8,8\n'
refuses "line 2: a quote without its end" 'name,width\n"a,8\n'
refuses "line 1: column " '{"height": }\n'
refuses "line 1: column 14: end of file expected" '{"height": 1}x\n'
refuses "line 2: column 1: no JSON object" '{"height": 1}\n[1]\n'
refuses "line 1: field 'hight'" '{"hight": 1}\n'
refuses "line 1: field 'kernel': '1.5x' is not" '{"kernel": "1.5x"}\n'
refuses "line 1: longer than" "$(head -c 20000 /dev/zero | tr '\0' x)"
refuses "there is no layer" ''
refuses "unknown target 'gap9'" 'height\n1\n' --target=gap9
echo "dory cost answers"
