#!/usr/bin/env bash
# Where the linker has laid what runs for every tile, see hal/gap8/gap8.ld: within a span, each line of it has few others in its set of
# an instruction cache, of the cores' or of the controller's.
# Usage: code_layout.sh NM ELF
set -euo pipefail
symbols=$("$1" --print-size --defined-only "$2")

# SPAN_BYTES FUNCTION...: all lie within so many bytes.
check_span() {
  local most=$1 first=$((0xFFFFFFFF)) end=0 function line start
  shift
  for function; do
    line=$(grep -E " [tT] $function(\.|$)" <<<"$symbols") || { echo "FAILED: $function is not in $(grep -c ' [tT] ' <<<"$symbols") functions" >&2; exit 1; }
    read -r start size _ <<<"$line"
    ((first = 16#$start < first ? 16#$start : first, end = 16#$start + 16#$size > end ? 16#$start + 16#$size : end)) || true
  done
  echo "$1 ... ${!#}: $((end - first)) of $most bytes"
  ((end - first <= most)) || { echo "FAILED: they lie too far apart" >&2; exit 1; }
}

check_span 1024 run_core gap8_tell_fc_of_meeting complete_input dory_fill_border fill_rows_of_planes
check_span 9216 run_driver gap8_fc_meet dory_driver_prepare dory_driver_start dory_place_next dory_place_tile describe_input start_next hal_l3_start gap8_l3_serve
