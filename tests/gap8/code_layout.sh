#!/usr/bin/env bash
# Where the linker has laid what runs for every tile, see hal/pulp/pulp.ld: within a span, each line of it has few others in its set of
# an instruction cache, of the cores' or of the controller's.
# Usage: code_layout.sh NM ELF
set -euo pipefail
symbols=$("$1" --print-size --defined-only "$2")
fail() { echo "FAILED: $*" >&2; exit 1; }

# FUNCTION: sets `address` and `bytes`.
locate_function() {
  local found
  found=$(grep -E "^[0-9a-f]+ [0-9a-f]+ [tT] $1(\.|$)" <<<"$symbols") || fail "there is no function $1 with a size"
  [[ $(wc -l <<<"$found") == 1 ]] || fail "there are several of $1"
  read -r address bytes _ <<<"$found"
  address=$((16#$address)) bytes=$((16#$bytes))
}

# SPAN_BYTES FUNCTION...: all lie within so many bytes.
check_span() {
  local most=$1 first=$((0xFFFFFFFF)) end=0 function address bytes
  shift
  for function; do
    locate_function "$function"
    first=$((address < first ? address : first)) end=$((address + bytes > end ? address + bytes : end))
  done
  echo "$1 ... ${!#}: $((end - first)) of $most bytes"
  ((end - first <= most)) || fail "they lie too far apart"
}

# FUNCTION...: all of their lines fit the cores' cache together, be it as small as gvsoc's: 64 sets of 4 lines of 16 bytes.
check_sets() {
  local function address bytes line most=0
  local -a lines=() taken=()
  for function; do
    locate_function "$function"
    for ((line = address / 16; line <= (address + bytes - 1) / 16; line++)); do
      taken[line]=1
    done
  done
  for line in "${!taken[@]}"; do
    ((lines[line % 64] += 1))
    ((most = lines[line % 64] > most ? lines[line % 64] : most))
  done
  echo "$1 ... ${!#}: $most of 4 lines of a set"
  ((most <= 4)) || fail "they push one another out of the cache"
}

check_span 1024 dory_run_core pulp_tell_fc_of_meeting add_meeting complete_input dory_fill_border fill_rows_of_planes
check_sets dory_run_core pulp_tell_fc_of_meeting add_meeting dory_xpulpv2_convolution next_pixels dory_product_start dory_product_run
check_span 9216 run_driver pulp_fc_meet dory_driver_prepare dory_driver_start dory_place_next dory_place_tile dory_describe_loads
check_span 1152 dory_start_transfers hal_l3_start pulp_l3_serve
