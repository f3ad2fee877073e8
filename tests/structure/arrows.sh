#!/usr/bin/env bash
# The rooms of the generator: an include points to its own room or to one that rooms.txt names for it, and every source lies in
# a room of that list.
# usage: arrows.sh SOURCE
set -euo pipefail
list=$(dirname "$(realpath "$0")")/rooms.txt
cd "$1"
status=0 seen=0
complain() { printf '%s\n' "$*"; status=1; }

rooms=" "
while IFS='|' read -r room may _; do
  rooms+="$room "
  while IFS=: read -r file target; do
    seen=$((seen + 1))
    case " $room $may " in
      *" generator/$target "*) ;;
      *) complain "$file includes $target/: $room may include ${may:-nothing}" ;;
    esac
  done < <(grep -roE '^#include "[a-z_0-9]+/' "$room" --include='*.[ch]' | sed 's/#include "//; s,/$,,' | grep -Ev ':(dory|onnx)$')
done < <(grep -v '^#' "$list")
[ "$seen" -gt 100 ] || complain "only $seen includes were found: is this the source?"
while read -r file; do
  case "$rooms" in *" generator/${file%%/*} "*) ;; *) complain "generator/$file lies in no room" ;; esac
done < <(find generator -name '*.[ch]' -printf '%P\n')
exit $status
