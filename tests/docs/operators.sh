#!/usr/bin/env bash
# The tables of operators in docs/operators.md are those that the importers go by, row by row.
# usage: operators.sh SOURCE DORY [--write]        --write: sets the tables anew
set -euo pipefail
document=$1/docs/operators.md
made=$(mktemp)
trap 'rm -f "$made"' EXIT

# `dory ops` has a list a format, the document a table a format, in one order.
"$2" ops | awk '
  FNR == NR { if (/^Not supported/) skip = 1
              if (skip) next
              if (/^[A-Za-z][A-Za-z0-9_]*  /) { if (!inside) format++; inside = 1
                name = $1; sub(/^[^ ]+ +/, ""); rest = index($0, "|") ? $0 : $0 " |"
                if (rest ~ /^ *\|/) sub(/^ */, "", rest)
                row = "| " name " | " rest " |"; gsub(/ +\|/, " |", row)
                rows[format] = rows[format] row "\n" }
              else inside = 0
              next }
  /^\| operator /  { print; table++; in_table = 1; next }
  in_table && /^\|---/ { print; printf "%s", rows[table]; next }
  in_table && /^\|/    { next }
  { in_table = 0; print }
  END { if (table != format) { print "tables: " table ", lists: " format > "/dev/stderr"; exit 1 } }
' - "$document" >"$made"
if [ "${3:-}" = --write ]; then
  cat "$made" >"$document"
fi
diff "$document" "$made" || { echo "docs/operators.md: run tests/docs/operators.sh SOURCE DORY --write"; exit 1; }
echo "the tables of docs/operators.md are those of the importers"
