#!/usr/bin/env bash
# What `dory diff` says of the logs of two firmwares, whole and maltreated.
# Usage: diff.sh DORY SOURCE SOUND_FIRMWARE SPOILT_FIRMWARE [EMULATOR...]
set -euo pipefail
dory=$1 source=$2 sound=$3 spoilt=$4
shift 4
digits=$source/apps/digits/digits.onnx residual=$source/tests/consumer/project/model/residual.onnx
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

# expect STATUS LOG MODEL PATTERN...: exit status of dory diff; each pattern is somewhere in what it prints, in this order.
expect() {
  local status=$1 log=$2 model=$3 found=0 pattern rest
  shift 3
  "$dory" diff "$log" "$model" --config none "${options[@]}" >out 2>&1 || found=$?
  [ "$found" -eq "$status" ] || { echo "FAILED: $log: exit status $found, not $status:"; cat out; failures=1; }
  rest=$(tr '\n' '\t' <out)
  for pattern in "$@"; do
    if [[ $rest =~ $pattern ]]; then
      rest=${rest#*"${BASH_REMATCH[0]}"}
    else
      echo "FAILED: $log: no '$pattern' (in this place) in:"; cat out; failures=1
    fi
  done
}
options=()

"$@" "$sound" >sound.log
"$@" "$spoilt" >spoilt.log
grep -q '^success' sound.log && grep -q '^success' spoilt.log || { echo "FAILED: a firmware failed"; tail -n 3 ./*.log; exit 1; }

# A sound firmware: one run of the one network, two of the other, of which four layers were chosen.
expect 0 sound.log "$digits" 'a run of dumped_digits' 'layer 0 Conv_0: exact \(1024 values\)' 'layer 4 Gemm_27: exact \(10 values\)' \
  'a run of dumped_residual, whose model has the hash [0-9a-f]{8}, not [0-9a-f]{8}: not compared' '5 exact, 0 differ, 0 incomplete'
expect 0 sound.log "$residual" 'layer 0 Conv_0: exact \(2048 values\)' 'layer 2 Conv_24: exact' 'layer 3 Add_40: exact' \
  'layer 13 Gemm_168: exact \(10' 'a run of dumped_residual' 'layer 13 Gemm_168: exact \(10 values\)' '8 exact, 0 differ, 0 incomplete'

# Corrupted on the target: the layer behind is wrong for the input that it seemed to have, and the others follow.
expect 1 spoilt.log "$digits" 'layer 0 Conv_0: exact' 'layer 1 MaxPool_12: exact' \
  'layer 2 Conv_13: differs at \([0-9]+, [0-9]+, [0-9]+\): expected [0-9]+, actual [0-9]+; [0-9]+ of 512 values differ; its input gives something else: the fault is in this layer' \
  'layer 3 MaxPool_25: differs at .*; follows from its input' '2 exact, 3 differ, 0 incomplete'

# Another input than the command line's is no fault of a layer's.
for i in {0..63}; do echo "$(((i * 37 + 12) % 256)),"; done >other.txt
options=(--input other.txt)
expect 1 sound.log "$digits" 'input .*: differs at \(0, 0, 0\): expected 12, actual 11; 64 of 64 values differ, which is no fault'
options=()

# A UART's log: carriage returns, time stamps, other text, and a run that was being written when the log began.
{ tail -n 3 sound.log; cat sound.log; } | sed 's/$/\r/; s/^/[00:12.345] /' >uart.log
expect 1 uart.log "$digits" '5 exact, 0 differ, 0 incomplete' 'line 1 belongs to a run whose beginning is not in the log'
tail -n +4 uart.log >whole.log
expect 0 whole.log "$digits" '5 exact, 0 differ, 0 incomplete'

# A digit that the line lost, one that it changed, a line that it cut off: said, and counted as missing.
sed '/ L1 20 /s/ L1 20 ./ L1 20 /' sound.log >lost.log
expect 1 lost.log "$digits" 'layer 1 MaxPool_12: 32 of 256 bytes are not in the log, the first at 0x20; the rest: exact \(224 values\)' \
  '4 exact, 0 differ, 1 incomplete' 'lost.log: warning: line [0-9]+ is damaged'
sed '/ L4 20 /s/ \*.*//' sound.log >cut.log
expect 1 cut.log "$digits" 'layer 4 Gemm_27: 8 of 40 bytes are not in the log, the first at 0x20; the rest: exact \(8 values\)' 'line [0-9]+ is cut off'
sed '/ in0 0 /d' sound.log >no_input.log
expect 1 no_input.log "$digits" '0 exact' '32 of 64 bytes of input .* are not in the log; give the input that the board had'
for i in {0..63}; do echo "$(((i * 37 + 11) % 256)),"; done >same.txt
options=(--input same.txt)
expect 0 no_input.log "$digits" '5 exact, 0 differ, 0 incomplete'
options=()

# The log ends too early.
sed '/ L3 20 /q' sound.log >truncated.log
expect 1 truncated.log "$digits" 'layer 3 MaxPool_25: 64 of 128 bytes' 'layer 4 Gemm_27: not in the log' '1 of 6 tensors' \
  'the log ends before the run did' '3 exact, 0 differ, 2 incomplete'

# Of another network, of nothing, of nobody.
sed '/residual/d; /@dory end/q' sound.log >digits.log
expect 1 digits.log "$residual" 'not compared' 'error: the log is of another network, or of another version of .*residual.onnx: its hash is'
echo 'nothing to see' >empty.log
expect 1 empty.log "$digits" 'no tensors in this log; was the firmware made with DUMP'
expect 1 missing.log "$digits" 'missing.log: error: cannot read the log: No such file'
expect 1 sound.log missing.onnx 'missing.onnx: error: cannot open the file'
head -c 20000 /dev/urandom >noise.log
cat noise.log >>sound.log
expect 0 sound.log "$digits" '5 exact, 0 differ, 0 incomplete'

exit $failures
