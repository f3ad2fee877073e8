#!/bin/sh
# dory report on a real model: exit statuses, files, same bytes twice, an end of the timeline that is the plan's.
# usage: command.sh DORY MODEL FOLDER        exit status 77: the model is not there
dory=$1 model=$2 folder=$3
[ -f "$model" ] || exit 77
rm -rf "$folder"
mkdir -p "$folder" || exit 1
failed=0

expect() { # STATUS COMMAND...
    wanted=$1
    shift
    "$@" >"$folder/output" 2>&1
    status=$?
    if [ $status -ne "$wanted" ]; then
        echo "exit status $status instead of $wanted: $*"
        cat "$folder/output"
        failed=1
    fi
}

number() { sed -n "s/^ *\"$1\": \([0-9]*\),*\$/\1/p" "$folder/one/report.json"; }

expect 0 "$dory" report "$model" --target gap8 --output-dir "$folder/one"
expect 0 "$dory" report "$model" --target gap8 --output-dir "$folder/two"
for file in report.json report.html report_trace.json; do
    expect 0 cmp "$folder/one/$file" "$folder/two/$file"
done
expect 0 test "$(ls "$folder/one" | wc -l)" -eq 3
expect 0 test "$(number timeline_cycles)" -eq "$(number predicted_cycles | head -n 1)"

expect 0 "$dory" generate "$model" --target gap8 --name net --report --output-dir "$folder/three"
expect 0 cmp "$folder/one/report.json" "$folder/three/report.json"
expect 0 test -f "$folder/three/net.c"
expect 0 "$dory" report --help
expect 2 "$dory" report
expect 2 "$dory" report "$model" --no-such-option

echo "perf layer 0 conv: 4711 cycles, 1 waiting for L2, 2 for L3, 3 tiles; 4 MAC, 5.00 MAC/cycle" >"$folder/good.log"
echo "layer 0 conv: exact (8 values)" >"$folder/empty.log"
expect 0 "$dory" report "$model" --target gap8 --output-dir "$folder/four" --log "$folder/good.log"
expect 0 grep -q '"measured_cycles": 4711' "$folder/four/report.json"
expect 1 "$dory" report "$model" --target gap8 --output-dir "$folder/five" --log "$folder/empty.log"
expect 1 "$dory" report "$model" --target gap8 --output-dir "$folder/five" --log "$folder/none.log"
expect 1 test -e "$folder/five"

# Two plans side by side: one with less L2 than the other.
expect 0 "$dory" report "$model" --target gap8 --l2-bytes 200000 --clock-mhz 175 --output-dir "$folder/small"
expect 0 grep -q '"clock_mhz": 175' "$folder/small/report.json"
expect 0 "$dory" report --compare "$folder/one/report.json" "$folder/small/report.json" --output-dir "$folder/both"
cp "$folder/output" "$folder/output_of_compare"
expect 0 grep -q "^cycles  *$(number predicted_cycles | head -n 1)  *[0-9]*  *+[0-9.]* %$" "$folder/output_of_compare"
expect 0 test "$(ls "$folder/both")" = comparison.html
expect 1 "$dory" report --compare "$folder/one/report.json" "$folder/none.json" --output-dir "$folder/six"
expect 1 "$dory" report --compare "$model" "$folder/one/report.json" --output-dir "$folder/six"
expect 1 "$dory" report --compare "$folder/one/report.json" "$folder/one/report_trace.json" --output-dir "$folder/six"
expect 2 "$dory" report --compare "$folder/one/report.json" --output-dir "$folder/six"
expect 2 "$dory" report --compare "$folder/one/report.json" "$folder/small/report.json" --log "$folder/good.log"
expect 2 "$dory" plan --compare "$folder/one/report.json" "$folder/small/report.json"
expect 1 test -e "$folder/six"
exit $failed
