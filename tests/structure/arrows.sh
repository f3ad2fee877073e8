#!/usr/bin/env bash
# The rooms of the generator: an include points to its own room or to one further up in this list, never down, and every
# source lies in a room of the list.
# usage: arrows.sh GENERATOR_FOLDER
set -euo pipefail
cd "$1"
rooms=(base target model import network plan emit report command)
# What each may include besides itself. Layers and their arithmetic (network) are what import makes and plan reads.
declare -A may=(
  [base]=""
  [model]="base"
  [network]="base"
  [import]="base model network"
  [target]="base"
  [plan]="base target network"
  [emit]="base target network plan"
  [report]="base target network plan emit"
  [command]="base target model import network plan emit report"
)
status=0
complain() { printf '%s\n' "$*"; status=1; }

seen=0
for room in "${rooms[@]}"; do
  while IFS=: read -r file target; do
    seen=$((seen + 1))
    case " $room ${may[$room]} " in
      *" $target "*) ;;
      *) complain "$file includes $target/: $room may include ${may[$room]:-nothing}" ;;
    esac
  done < <(grep -roE '^#include "[a-z_0-9]+/' "$room" --include='*.[ch]' | sed 's/#include "//; s,/$,,' | grep -Ev ':(dory|onnx)$')
done
[ "$seen" -gt 100 ] || complain "only $seen includes were found: is this the generator's folder?"
while read -r file; do
  case " ${rooms[*]} " in *" ${file%%/*} "*) ;; *) complain "$file lies in no room" ;; esac
done < <(find . -name '*.[ch]' -printf '%P\n')
exit $status
