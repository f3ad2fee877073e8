#!/usr/bin/env bash
# No file has more than 500 lines, and no folder of sources more than 40 files: a newcomer can take in either.
# Usage: lines.sh SOURCE
set -euo pipefail
cd "$1"

status=0
while read -r lines file; do
  if [ "$lines" -gt 500 ]; then
    echo "$file has $lines lines"
    status=1
  fi
done < <(find generator kernels hal boards apps tests cmake scripts -type f ! -path 'tests/emit/golden/*' \
  \( -name '*.[chS]' -o -name '*.py' -o -name '*.sh' -o -name '*.cmake' \) -exec wc -l {} \;)
while read -r files folder; do
  if [ "$files" -gt 40 ]; then
    echo "$folder has $files sources"
    status=1
  fi
done < <(find generator kernels hal -type f -name '*.[ch]' -printf '%h\n' | sort | uniq -c)
[ $status -ne 0 ] || echo "at most 500 lines a file and 40 sources a folder"
exit $status
