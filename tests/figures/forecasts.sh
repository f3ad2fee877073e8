#!/usr/bin/env bash
# What `dory plan` says of a run is near what gvsoc took, for every network of tests/results.csv: within 5 % above a million
# cycles, 10 % above a hundred thousand, 15 % below. Usage: forecasts.sh RESULTS
set -euo pipefail

awk -F, '
  NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next } # the last one is in quotes, and in two parts: it is not read
  $2 == "all" {
    measured = $column["cycles of the run"]; planned = $column["planned cycles of the run"]
    off = 100 * (planned / measured - 1)
    most = measured > 1000000 ? 5 : measured > 100000 ? 10 : 15
    networks++
    if (off > most || off < -most) { printf "FAILED: %s: forecast %.1f %% off, at most %d\n", $1, off, most; failed = 1 }
  }
  END {
    printf "forecasts of %d networks\n", networks
    exit failed || networks < 9
  }' "$1"
