#!/usr/bin/env bash
# Configures, builds and runs the project of this folder, copied out of the tree, as a user of dory does, and compares
# what its firmwares compute with `dory run`.
#
# Usage: consume.sh METHOD TARGET SOURCE WORK GENERATOR PREFIX [CMAKE_ARGUMENT...]
#   METHOD    find_package (dory is installed in PREFIX), add_subdirectory or FetchContent (of SOURCE)
#   TARGET    host, virt or gap8
#   WORK      folder of this test; it is emptied
# Exit status 77: no simulator of TARGET.
set -euo pipefail
method=$1 target=$2 source=$3 work=$4 generator=$5 prefix=$6
shift 6

fail() { echo "FAILED: $*" >&2; exit 1; }
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "$*"; }; }

rm -rf "$work"
mkdir -p "$work"
cp -r "$source/tests/consumer/project" "$work/project"
build=$work/project/build/$target
cp "$source/apps/digits/digits.onnx" "$work/project/model/"

build_type=Release
case $method.$target in FetchContent.* | add_subdirectory.gap8) build_type=Debug ;; esac # as who looks for a fault; Release for virt, as in docs/cmake.md
arguments=("-DMETHOD=$method" "-DCMAKE_BUILD_TYPE=$build_type" "$@")
toolchains=$source/toolchains
case $method in
  find_package) # installed where docs/getting-started.md has it
    mkdir "$work/home"
    cp -r "$prefix" "$work/home/.local"
    prefix=$work/home/.local
    toolchains=$prefix/share/dory/toolchains
    [ "$target" != host ] || arguments+=("-DCMAKE_PREFIX_PATH=$prefix") ;; # the toolchain files know their package
  add_subdirectory) # where find_package has it, so that a ccache knows the objects
    copy=$work/home/.local/share/dory
    mkdir -p "$copy"
    cp -r "$source"/{CMakeLists.txt,cmake,generator,hal,kernels,toolchains} "$copy/"
    arguments+=("-DDORY_SOURCE=$copy" "-DDORY_GENERATOR=$generator") ;;
  FetchContent)
    tar -C "$source" -czf "$work/dory.tar.gz" CMakeLists.txt boards cmake generator hal kernels scripts
    arguments+=("-DDORY_ARCHIVE=$work/dory.tar.gz" "-DDORY_GENERATOR=$generator") ;;
esac
[ "$target" = host ] || arguments+=("-DCMAKE_TOOLCHAIN_FILE=$toolchains/$target.cmake")

quietly cmake -G Ninja -S "$work/project" -B "$build" "${arguments[@]}"
quietly cmake --build "$build"
if [ "$method" = find_package ]; then
  sed "s|$work||g; s|$prefix||g" "$build/build.ninja" | grep -F "$source" >/dev/null && fail "the installed package refers to the source tree $source"
fi
others='xpulpv2|armv7em|mve' # engines that no plan for the target has
[ "$target" != gap8 ] || others='armv7em|mve'
if grep -qE "dory_kernels.dir/($others)/" "$build/build.ninja"; then fail "kernels are compiled that no plan for $target has"; fi
(cd "$build" && ctest --output-on-failure --no-tests=error) >"$work/ctest.log" || { cat "$work/ctest.log"; fail "ctest"; }
if grep -q 'Skipped' "$work/ctest.log"; then
  echo "built; not run: no simulator of $target"
  exit 77
fi

# The golden model's logits for run.h's input, in the form in which run.h prints them.
golden() { # NAME MODEL INPUT_BYTES
  local i
  for ((i = 0; i < $3; i++)); do echo "$(((i * 37 + 11) % 256)),"; done >"$work/input.txt"
  "$generator" run "$work/project/model/$2.onnx" --input "$work/input.txt" | sed -n "s/^[^ ]*: /$1: /p"
}
golden digits digits 64 >"$work/single.txt"
golden residual residual 768 >"$work/residual.txt"
a=$(cat "$work/single.txt") b=$(cat "$work/residual.txt")
small=${b/residual/residual_small}
printf '%s\n' "$a" "$b" "$small" "$small" "$b" "$a" "$small" "$a" >"$work/shared.txt"

program() { # NAME: its output, as ctest has recorded it
  sed -n "/Test: $1\$/,/Test time/p" "$build/Testing/Temporary/LastTest.log" | grep -E "^(digits|residual)[a-z_]*:" | tr -d '\r'
}
for name in single shared; do
  diff "$work/$name.txt" <(program $name) || fail "$name: expected <, printed >"
done
echo "$method for $target: $(grep -c . "$work/shared.txt") runs of networks in one arena, exact"
