#!/usr/bin/env bash
# docs/architecture.md against the source: the table of rooms is that of rooms.txt, its numbers of files and lines are not far
# from what is there, and every hop of the walk is in the file that it names; the test plan.height makes the walk. No folder is
# too large to be looked through.
# usage: document.sh SOURCE [--write]        --write: sets the table anew
set -euo pipefail
list=$(dirname "$(realpath "$0")")/rooms.txt
cd "$1"
document=docs/architecture.md
most_files=40
status=0
complain() { printf '%s\n' "$*"; status=1; }

# As the table has it: | `plan` | base, target | 39 | 8056 | what is in it |
rows() {
  while IFS='|' read -r room may holds; do
    mapfile -t files < <(find "$room" -name '*.[ch]')
    arrows=$(sed 's,generator/,,g; s/ /, /g' <<<"${may:-nothing}")
    printf "| \`%s\` | %s | %d | %d | %s |\n" "${room#generator/}" "$arrows" "${#files[@]}" "$(cat "${files[@]}" | wc -l)" "$holds"
  done < <(grep '^generator/' "$list")
}
table=$(rows)

if [ "${2:-}" = --write ]; then
  { sed '/^| room |/,$d' "$document"; sed -n '/^| room |/,/^|---/p' "$document"; echo "$table"
    sed '1,/^| room |/d' "$document" | sed -n '/^$/,$p'; } >"$document.new"
  mv "$document.new" "$document"
fi

numbers() { tr -d ' `' <<<"$1" | cut -d '|' -f 2,4,5 | tr '|' ' '; }
words() { cut -d '|' -f 2,3,6 <<<"$1"; }
written=$(sed -n '/^| room |/,/^$/p' "$document" | sed '1,2d; /^$/d')
[ "$(words "$table")" = "$(words "$written")" ] || { diff <(words "$table") <(words "$written") || true; complain "rooms: < rooms.txt, > $document"; }
while read -r room files lines known_room known_files known_lines; do
  far=$((lines / 4 > 100 ? lines / 4 : 100))
  if [ "$room" != "$known_room" ] || [ $((lines - known_lines)) -gt $far ] || [ $((known_lines - lines)) -gt $far ] ||
    [ $((files - known_files)) -gt 8 ] || [ $((known_files - files)) -gt 8 ]; then
    complain "$room: $files files with $lines lines; $document says $known_files and $known_lines (document.sh SOURCE --write)"
  fi
done < <(paste -d ' ' <(numbers "$table") <(numbers "$written"))

# | 3 | `generator/tile/tile_cost.c` | `record->tile = ` | ... |
hops=0
while IFS='|' read -r _ number file code _; do
  hops=$((hops + 1))
  file=$(tr -d ' `' <<<"$file") code=$(sed 's/^ *`//; s/` *$//' <<<"$code")
  grep -qF -- "$code" "$file" 2>/dev/null || complain "hop $((number)): no '$code' in $file"
done < <(grep -E '^\| [0-9]+ \| `' "$document")
[ $hops -gt 0 ] || complain "$document has no walk"

while read -r folder; do
  count=$(find "$folder" -maxdepth 1 -type f | wc -l)
  [ "$count" -le $most_files ] || complain "$folder: $count files, more than $most_files"
done < <(find generator kernels hal -type d)
[ $status -eq 0 ] && echo "rooms and walk are as $document says"
exit $status
