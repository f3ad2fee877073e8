#!/usr/bin/env bash
# The table of docs/dead-channels.md is what `dory inspect` says of all networks of a folder.
#
# usage: table.sh DORY MODELS DOCUMENT [--write]
set -euo pipefail
dory=$1 models=$2 document=$3
[ -d "$models" ] || { echo "no folder $models" >&2; exit 77; }

# network | dead channels | MACs | bytes of weights, of each network that loses something
rows() {
  find "$models" -name '*.onnx' -o -name '*.tflite' | sort | while read -r model; do
    { "$dory" inspect --quiet "$model" 2>/dev/null || true; } |
      awk -v "name=$(dirname "${model#"$models"/}")" \
        '/ bytes of weights are left$/ && ($1 || $5 < $7) { printf "| %s | %d of %d | %d | %d | %d | %d |\n", name, $1, $3, $7, $5, $12, $10 }'
  done
}

table=$(rows)
[ -n "$table" ] || { echo "no network of $models loses a channel" >&2; exit 1; }
if [ "${4-}" = --write ]; then
  { sed '/^<!-- table -->$/q' "$document"
    echo
    echo '| network | dead channels | MACs | left | bytes of weights | left |'
    echo '|---|---|---|---|---|---|'
    echo "$table"
    echo
    sed -n '/^<!-- end of table -->$/,$p' "$document"; } >"$document.new"
  mv "$document.new" "$document"
else
  diff <(sed -n '/^<!-- table -->$/,/^<!-- end of table -->$/p' "$document" | grep '^|.*[0-9]') <(echo "$table") ||
    { echo "FAILED: < $document, > networks; tests/shrink/table.sh DORY MODELS DOCUMENT --write sets it anew" >&2; exit 1; }
fi
