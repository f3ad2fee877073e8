#!/usr/bin/env bash
# dory explore: the table, explore.json and explore.html, and questions that are none.
# Usage: explore.sh DORY DIGITS_MODEL
set -euo pipefail
dory=$1 model=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }

"$dory" explore "$model" --target gap8 --config none --l1 16k,64k --l2 32k:128k --clocks 100/100,250/250,50/100,125/250 --deadline 1ms \
  --output-dir "$work/out" >"$work/text"
grep -q '24 points, 12 plans' "$work/text" || fail "pairs with one ratio share their plans"
grep -q '^100/100 ' "$work/text" || fail "no line of a pair"
grep -q 'Slow and steady: .*Race to idle\|Slow and steady: ' "$work/text" || fail "no cheapest point"
grep -q 'Race to idle: 250/250 MHz' "$work/text" || fail "no fastest point"
grep -q 'Estimates. Measured were' "$work/text" || fail "energies are not called estimates"

# A plan of the same options has the same cycles; one point is one.
cycles=$("$dory" plan "$model" --target gap8 --config none --clocks 50/100 | sed -n 's/^\([0-9]*\) cycles in all.*/\1/p')
"$dory" explore "$model" --target gap8 --config none --clocks 50/100 | grep -q "^50/100  *$cycles " || fail "explore differs from plan: $cycles"
"$dory" explore "$model" --target gap8 --config none --clocks 50/100 | grep -q ': 1 point, 1 plan$' || fail "one point"

[ "$(grep -c '"cycles"' "$work/out/explore.json")" = 24 ] || fail "explore.json lacks points"
grep -q '"cycles": null' "$work/out/explore.json" || fail "32 kB of L2 are less than the firmware takes"
grep -q '<script type="application/json" id="data">' "$work/out/explore.html" || fail "explore.html has no data"

# The page draws itself, and its script has nothing to complain of.
if command -v chromium >/dev/null; then
  chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --enable-logging=stderr \
    --user-data-dir="$work/profile" --dump-dom "file://$work/out/explore.html" >"$work/dom" 2>"$work/console"
  ! grep CONSOLE "$work/console" || fail "the page's script reports an error"
  grep -q '<polyline' "$work/dom" || fail "the page has no front"
  [ "$(grep -o '<circle' "$work/dom" | wc -l)" = 16 ] || fail "the page has not a circle for each point that fits"
fi

# The same on any number of cores, and again.
"$dory" explore "$model" --target gap8 --config none --l1 16k,64k --l2 32k:128k --clocks 100/100,250/250,50/100,125/250 --deadline 1ms \
  --output-dir "$work/again" >/dev/null
cmp "$work/out/explore.json" "$work/again/explore.json" || fail "explore.json differs from run to run"

# A machine without measured power has times only.
"$dory" explore "$model" --target host --config none >"$work/text"
grep -q 'the description of host has no power' "$work/text" || fail "power out of nothing"

refuses() { # STATUS WORDS OPTION...
  local status=0 expected=$1 words=$2
  shift 2
  "$dory" explore "$model" --target gap8 --config none "$@" >"$work/text" 2>"$work/err" || status=$?
  [ $status = "$expected" ] || fail "exit status $status for $*"
  grep -qF -- "$words" "$work/err" || { cat "$work/err" >&2; fail "no '$words' for $*"; }
}
refuses 2 "--l1 '64q': sizes such as 256k,512k or 256k:4M are expected, up to 1M" --l1 64q
refuses 2 "--l1 '2M'" --l1 2M
refuses 2 "--l2 '4M:1M'" --l2 4M:1M
refuses 2 "--l2 '1k,,2k'" --l2 1k,,2k
refuses 2 "--clocks '100': pairs of MHz" --clocks 100
refuses 2 "--deadline 'soon': a time such as 33ms" --deadline soon
refuses 2 "--deadline '33'" --deadline 33
refuses 1 "300 MHz for the cluster; gap8 can have 16 to 250" --clocks 100/300
refuses 1 "9 cores; gap8 has 8" --cores 9
echo "dory explore answers"
