#!/usr/bin/env bash
# Exported networks on this PC: built by the compiler alone, without a path or an option of ours; all results are the golden model's,
# in two threads at the same time; two networks are in one program.
# Usage: host.sh SOURCE WORK PREFIX SHARED      dory is installed in PREFIX
. "$(dirname "$(realpath "$0")")/common.sh"
warnings=(-std=c11 -Wall -Wextra -Wconversion -Werror)

build() { # NAME OPTION...
  local name=$1
  shift
  mkdir "$name.objects"
  (cd "$name.objects" && gcc "${warnings[@]}" -O1 -g1 "$@" -c "../$name/src/"*.c "../$name/src/dory/"*.c) || fail "$name does not compile"
  gcc -std=gnu11 -Wall -Wextra -Werror -O1 -g1 "$@" -DTHREADS -DCASES="\"${name}_cases.h\"" -I. -I"$name/src" "$here/main.c" \
    "$name.objects/"*.o -o "$name.program" -pthread || fail "$name does not link"
}

# one input, one output; all that the network uses is there, and nothing of it has a name that another could have
export_network digits "$source/apps/digits/digits.onnx" host
write_cases digits "$source/apps/digits/digits.onnx" 3
build digits -fsanitize=thread
TSAN_OPTIONS=halt_on_error=1 ./digits.program || fail "digits"
others=$(nm -g --defined-only digits.objects/*.o | awk 'NF == 3 && $3 !~ /^digits_/ { print $3 }')
[ -z "$others" ] || fail "names without the network's in front: $others"
written=$(size -A digits.objects/*.o | awk '$1 ~ /^[.](data|bss)$/ && $2 > 0')
[ -z "$written" ] || fail "static data, which two runs would share: $written"

# several inputs and outputs, of less than 8 bits, too
export_network graph "$source/tests/models/graph.onnx" host
write_cases graph "$source/tests/models/graph.onnx" 3
build graph -fsanitize=address,undefined -fno-sanitize-recover=all
./graph.program || fail "graph"

# no file too many: each source is linked for a function of it
nm -u digits.objects/*.o | awk '{ print $2 }' | sort -u >used
for object in digits.objects/*.o; do
  [ $object != digits.objects/digits.o ] || continue # the user's program calls it
  nm --defined-only -g "$object" | awk '{ print $3 }' | sort >defined
  [ -n "$(comm -12 defined used)" ] || fail "nobody uses $object"
done

# the same bytes again, and in one program with another network
export_network again "$source/apps/digits/digits.onnx" host
rm -r again
"$dory" export again "$source/apps/digits/digits.onnx" --name digits --target host --quiet
diff -r digits again || fail "another export of the same model differs"
echo 'int digits_run(void *, const void *, void *); int graph_run(void *, const void *const *, void *const *);
int main(void) { return digits_run(0, 0, 0) + graph_run(0, 0, 0) == -2 ? 0 : 1; }' >two.c
gcc two.c digits/src/*.c digits/src/dory/*.c graph/src/*.c graph/src/dory/*.c -o two && ./two || fail "two networks in a program"
