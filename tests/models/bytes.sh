#!/usr/bin/env bash
# Code and tables of a program that runs one network, beside its weights and buffers: at most so many bytes of L2.
# Usage: bytes.sh SIZE PROGRAM MOST      SIZE is the size of binutils
set -euo pipefail
size=$1 program=$2 most=$3
listing=$("$size" -A "$program")
bytes=$(awk '$1 ~ /^\.(vectors|text|rodata|data)$/ { sum += $2 } END { print sum + 0 }' <<<"$listing")
grep -q '^\.text ' <<<"$listing" || { echo "FAILED: $program has no code" >&2; exit 1; }
echo "$bytes bytes of code and tables, at most $most"
[ "$bytes" -le "$most" ]
