#!/usr/bin/env bash
# dory --version names the commit of the tree that it was built from; where the tree is a clone, it is HEAD's.
# Usage: version.sh DORY SOURCE
set -euo pipefail
dory=$1 source=$2
found=$("$dory" --version)
expected="^dory [0-9]+\.[0-9]+\.[0-9]+$"
if [ "$(git -C "$source" rev-parse --show-toplevel 2>/dev/null)" = "$(realpath "$source")" ]; then
  expected="^dory [0-9]+\.[0-9]+\.[0-9]+ \(commit $(git -C "$source" rev-parse --short=12 HEAD)\)$"
fi
[[ $found =~ $expected ]] || { echo "FAILED: '$found', expected $expected"; exit 1; }
echo "$found"
