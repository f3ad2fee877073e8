#!/usr/bin/env bash
# The rooms once more, by what the linker joins. A room calls only what its own room defines, or a room that it may include: a
# function that one room declares and another defines would be an arrow that no include shows. And no file calls one that calls
# it in turn, over however many others; but where a table names functions that ask for the table: of operators, commands, kernels.
# usage: symbols.sh LIST, a file with the paths of the generator's object files
set -euo pipefail
rooms=$(dirname "$(realpath "$0")")/rooms.txt
with_circles='^(kernels|generator/(import|command))/'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Of each global symbol: whether a file defines it (anything but U) or uses it (U), the file, the symbol. A file is
# generator/ROOM/NAME, or kernels/ROOM/NAME where CMake's path has __ for "..".
symbols() {
  xargs nm -A -g <"$1" |
    sed -nE 's/^.*\/dorygen\.dir\/(\.\/)?(.*)\.c\.o: *[0-9a-f]* ([A-Za-z]) ([^ ]+)$/\3|generator\/\2|\4/p' |
    sed -E 's/\|generator\/__\//|/'
}

{ grep -v '^#' "$rooms" | sed 's/^/room|/'
  symbols "$1" | sed 's/^/symbol|/'; } | awk -F'|' -v calls="$work/calls" '
function complain(text) { if (!(text in said)) print text; said[text] = 1; faults++ }
function room_of(path,   parts) { return split(path, parts, "/") > 2 ? parts[1] "/" parts[2] : "" }
# A header for all rooms, whose functions are defined elsewhere: the contract of kernels, the status of a HAL.
function stands_for(room) { return room == "kernels/shared" ? "kernels/include" : room == "hal/common" ? "hal/include" : room }
$1 == "room" {
    count = split($3, names, " ")
    for (i = 1; i <= count; i++) {
        may[$2, names[i]] = 1
        if (names[i] ~ /\.h$/) may[$2, substr(names[i], 1, length(names[i]) - 2)] = 1
    }
    rooms[$2] = 1
}
$1 == "symbol" && $2 == "U" { user[++uses] = $3; used[uses] = $4 }
$1 == "symbol" && $2 != "U" { definer[$4] = $3 }
END {
    for (i = 1; i <= uses; i++) {
        to = definer[used[i]]; room = room_of(user[i]); other = room_of(to)
        if (to != "" && to != user[i]) print user[i], to > calls
        if (to == "" || !(room in rooms) || !(other in rooms) || room == other) continue
        arrows++
        if (!((room, other) in may) && !((room, to) in may) && !((room, stands_for(other)) in may))
            complain(user[i] ".c uses " used[i] " of " to ".c: " room " may not")
    }
    if (arrows < 500) complain("only " arrows + 0 " uses across rooms were found: are these the objects of the generator?")
    exit faults > 0
}'

if ! awk -v rooms="$with_circles" '$1 !~ rooms && $2 !~ rooms' "$work/calls" | tsort >"$work/order" 2>"$work/circle"; then
  echo "files call each other in a circle:" >&2
  sed 's/^tsort: -*:*//' "$work/circle" >&2
  exit 1
fi
[ "$(wc -l <"$work/order")" -ge 100 ] || { echo "hardly any calls between files were found" >&2; exit 1; }
