#!/usr/bin/env bash
# scripts/compare_prediction passes a total that is near and refuses one that is not.
# Usage: compare.sh SCRIPT PYTHON
set -euo pipefail
script=$1 python=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*" >&2; exit 1; }
cat >report.json <<'REPORT'
{"layers": [{"name": "a", "kernel": "k", "profile_cycles": 1000},
            {"name": "b: c", "kernel": "k", "profile_cycles": 2000},
            {"name": "small", "kernel": "k", "profile_cycles": 20}]}
REPORT
run() { # STATUS CYCLES...
  local status=$1 layer=0 names=("a" "b: c" "small") cycles
  shift
  for cycles in "$@"; do
    echo "perf layer $layer ${names[layer]}: $cycles cycles, 7 waiting for L2, 8 for L3, 9 tiles; 10 MAC, 0.01 MAC/cycle"
    layer=$((layer + 1))
  done >run.log
  local result=0
  "$python" "$script" report.json run.log >output 2>&1 || result=$?
  [ "$result" = "$status" ] || { cat output; fail "status $result for $*, expected $status"; }
}
run 0 1000 2000 20
run 0 1100 2100 20 # total 6 % off
run 0 800 2100 20  # total 4 % off
grep -q '^0 a .*+25.0%' output || fail "the layer's own error is not shown"
if grep -q '^2 small' output; then fail "a layer below 1 % of the time is shown"; fi
run 1 1150 2300 20 # the total is not within 10 %
grep -q 'off by more than 10%' output || fail "the total is not named"
run 2 1000 2000    # a layer is missing
echo "network,layer,name,MAC,cycles
x,all,,9,3020
x,0,a,1,1000
x,1,b,1,2000
x,2,c,1,20
y,0,a,1,5" >table.csv
"$python" "$script" report.json table.csv --network x >output || fail "a table"
if "$python" "$script" report.json table.csv --network y >output 2>&1; then fail "another network's figures"; fi
echo "predictions are judged as they should be"
