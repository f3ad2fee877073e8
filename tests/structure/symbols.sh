#!/usr/bin/env bash
# The rooms once more, by what the linker joins: a room calls only what its own room defines, or a room that it may include.
# An include shows what a source knows; a function that one room declares and another defines would be an arrow that no
# include shows.
# usage: symbols.sh OBJECTS, the folder of the generator's object files
set -euo pipefail
list=$(dirname "$(realpath "$0")")/rooms.txt
cd "$1"

# Of each global symbol: the file that defines it (D) or uses it (U), without the build's ending.
symbols() { find . -name '*.o' -print0 | xargs -0 nm -A -g | sed -nE 's/^\.\/(.*)\.c\.o: *[0-9a-f]* ([A-Za-z]) ([^ ]+)$/\2 \1 \3/p'; }

{ grep -v '^#' "$list" | sed 's/^/room|/'
  symbols | sed 's/^/symbol|/; s/ /|/g'; } | awk -F'|' '
function complain(text) { if (!(text in said)) print text; said[text] = 1; faults++ }
# Objects of other folders than the generator have __ for "..".
function source_of(object) { return sub("^__/", "", object) ? object : "generator/" object }
function room_of(path,   parts) { return split(path, parts, "/") > 2 ? parts[1] "/" parts[2] : "" }
function file_of(path) { sub(".*/", "", path); return path }
# A header for all rooms, whose functions are defined elsewhere: the contract of kernels, the status of a HAL.
function stands_for(room) { return room == "kernels/contract" ? "kernels/include" : room == "hal/common" ? "hal/include" : room }
$1 == "room" {
    count = split($3, names, " ")
    for (i = 1; i <= count; i++) {
        may[$2, names[i]] = 1
        if (names[i] ~ /\.h$/) may[$2, substr(names[i], 1, length(names[i]) - 2)] = 1
    }
    rooms[$2] = 1
}
$1 == "symbol" && $2 == "U" { user[++uses] = source_of($3); used[uses] = $4 }
$1 == "symbol" && $2 != "U" { definer[$4] = source_of($3) }
END {
    for (i = 1; i <= uses; i++) {
        to = definer[used[i]]; room = room_of(user[i]); other = room_of(to)
        if (to == "" || !(room in rooms) || !(other in rooms) || room == other) continue
        arrows++
        if (!((room, other) in may) && !((room, to) in may) && !((room, stands_for(other)) in may))
            complain(user[i] ".c uses " used[i] " of " to ".c: " room " may not")
    }
    if (arrows < 500) complain("only " arrows + 0 " uses across rooms were found: are these the generator'"'"'s objects?")
    exit faults > 0
}'
