#!/usr/bin/env bash
# Where the linker has laid what runs for every tile, see hal/gap8/gap8.ld: within a span, each line of it has few others in its set of
# an instruction cache, of the cores' or of the controller's.
# Usage: code_layout.sh NM ELF
set -euo pipefail
symbols=$("$1" --print-size --defined-only "$2")
fail() { echo "FAILED: $*" >&2; exit 1; }

# SPAN_BYTES FUNCTION...: all lie within so many bytes.
check_span() {
  local most=$1 first=$((0xFFFFFFFF)) end=0 function found address bytes
  shift
  for function; do
    found=$(grep -E "^[0-9a-f]+ [0-9a-f]+ [tT] $function(\.|$)" <<<"$symbols") || fail "there is no function $function with a size"
    [[ $(wc -l <<<"$found") == 1 ]] || fail "there are several of $function"
    read -r address bytes _ <<<"$found"
    address=$((16#$address)) bytes=$((16#$bytes))
    first=$((address < first ? address : first)) end=$((address + bytes > end ? address + bytes : end))
  done
  echo "$1 ... ${!#}: $((end - first)) of $most bytes"
  ((end - first <= most)) || fail "they lie too far apart"
}

check_span 1024 dory_run_core gap8_tell_fc_of_meeting complete_input dory_fill_border fill_rows_of_planes
check_span 9216 run_driver gap8_fc_meet dory_driver_prepare dory_driver_start dory_place_next dory_place_tile dory_describe_loads
check_span 1152 dory_start_transfers hal_l3_start gap8_l3_serve
