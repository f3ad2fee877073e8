#!/usr/bin/env bash
# The rooms of the generator and of the firmware: an include points to its own room or to what rooms.txt names for it, however
# the include is written; a room names only what stands above it; and every source lies in a room of that list.
# usage: arrows.sh SOURCE
set -euo pipefail
list=$(dirname "$(realpath "$0")")/rooms.txt
cd "$1"

sources() { find generator kernels hal -name '*.[chS]' | sort; }
includes() { grep -rHoE '^ *# *include *["<][^">]+[">]' generator kernels hal --include='*.[chS]' | sed -E 's/: *# *include *(["<])/ \1/; s/[">]$//'; }

{ grep -v '^#' "$list" | sed 's/^/room|/'
  sources | sed 's/^/file|/'
  includes | sed 's/^/include|/'; } | awk -F'|' '
function complain(text) { print text; faults++ }
# The folder of a room is two deep: generator/import has generator/import/qdq, too.
function room_of(path,   parts) { return split(path, parts, "/") > 2 ? parts[1] "/" parts[2] : "" }
function folder_of(path) { sub("/[^/]*$", "", path); return path }
# Without the x/.. of a path.
function plain(path) { while (path ~ /[^\/.]+\/\.\.\//) sub(/[^\/.]+\/\.\.\//, "", path); return path }
# How near they are: 2 in one room, 1 both in the generator, the kernels or the HALs, 0 elsewhere.
function nearness(a, b) { return (room_of(a) == room_of(b)) + (substr(a, 1, 3) == substr(b, 1, 3)) }
# Where the compiler finds an include: beside the file, in the folders of headers for all, or in any other that CMake names;
# of several files of that name it is the nearest one.
function find(file, text,   beside, i, found) {
    beside = plain(folder_of(file) "/" text)
    if (text ~ /\.\.\// || beside in known) return beside
    for (i = 1; i <= 4; i++)
        if ((shared[i] text) in known) return shared[i] text
    for (i = 1; i <= files; i++)
        if (length(path[i]) > length(text) && substr(path[i], length(path[i]) - length(text)) == "/" text &&
            (found == "" || nearness(path[i], file) > nearness(found, file))) found = path[i]
    return found == "" ? text : found
}
BEGIN { shared[1] = "generator/"; shared[2] = "kernels/include/"; shared[3] = "hal/include/"; shared[4] = "generator/cost/include/" }
$1 == "room" {
    if ($2 in rooms) complain("rooms.txt: " $2 " is there twice")
    count = split($3, names, " ")
    for (i = 1; i <= count; i++) {
        may[$2, names[i]] = 1
        if (names[i] ~ /^(generator|kernels|hal)\// && !(names[i] in rooms) && !(room_of(names[i]) in rooms && names[i] ~ /\.h$/))
            complain("rooms.txt: " $2 " may not include " names[i] ", which does not stand above it")
    }
    rooms[$2] = 1; allowed[$2] = $3
}
$1 == "file" {
    known[$2] = 1; path[++files] = $2
    if (!(room_of($2) in rooms)) complain($2 " lies in no room")
    inhabited[room_of($2)] = 1
}
$1 == "include" {
    split($2, pair, " "); system_may_have_it = pair[2] ~ /^</; pair[2] = substr(pair[2], 2)
    room = room_of(pair[1]); target = find(pair[1], pair[2]); if (system_may_have_it && !(target in known)) next
    seen[substr(room, 1, 3)]++
    if (room_of(target) != room && !((room, room_of(target)) in may) && !((room, target) in may) && !((room, pair[2]) in may))
        complain(pair[1] " includes " target ": " room " may include " (allowed[room] == "" ? "nothing" : allowed[room]))
}
END {
    for (arrow in may) {
        split(arrow, pair, SUBSEP)
        if (pair[2] ~ /^(generator|kernels|hal)\/.*\.h$/ && !(pair[2] in known)) complain("rooms.txt: there is no " pair[2])
    }
    for (room in rooms) if (!(room in inhabited)) complain("rooms.txt: there is nothing in " room)
    if (seen["gen"] < 500 || seen["ker"] < 100 || seen["hal"] < 40)
        complain("only " seen["gen"] + 0 ", " seen["ker"] + 0 " and " seen["hal"] + 0 " includes were found: is this the source?")
    exit faults > 0
}'
