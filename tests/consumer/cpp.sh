#!/usr/bin/env bash
# Builds and runs the firmware of the folder cpp, which is in C++17, and compares what it prints with `dory run`.
# Usage: cpp.sh TARGET SOURCE WORK GENERATOR PREFIX [CMAKE_ARGUMENT...]      exit status 77: no simulator, no C++ compiler
set -euo pipefail
target=$1 source=$2 work=$3 generator=$4 prefix=$5
shift 5

fail() { echo "FAILED: $*" >&2; exit 1; }
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "$*"; }; }

compiler=riscv64-unknown-elf-g++
[ "$target" != host ] || compiler=c++
command -v "$compiler" >/dev/null || { echo "skipped: there is no $compiler"; exit 77; }
rm -rf "$work"
mkdir -p "$work/home"
cp -r "$prefix" "$work/home/.local"
prefix=$work/home/.local build=$work/project/build/$target
cp -r "$source/tests/consumer/cpp" "$work/project"
cp "$source/apps/digits/digits.onnx" "$work/project"
arguments=(-DCMAKE_BUILD_TYPE=Release "-DCMAKE_PREFIX_PATH=$prefix" "$@")
[ "$target" = host ] || arguments+=("-DCMAKE_TOOLCHAIN_FILE=$prefix/share/dory/toolchains/$target.cmake")
quietly cmake -G Ninja -S "$work/project" -B "$build" "${arguments[@]}"
quietly cmake --build "$build"
(cd "$build" && ctest -V --no-tests=error) >"$work/ctest.log" || { cat "$work/ctest.log"; fail "ctest"; }
if grep -q 'skipped: ' "$work/ctest.log"; then
  echo "built; not run: no simulator of $target"
  exit 77
fi
for ((i = 0; i < 64; i++)); do echo "$(((i * 37 + 11) % 256)),"; done >"$work/input.txt"
golden=$("$generator" run "$work/project/digits.onnx" --input "$work/input.txt" | sed -n 's/^[^ ]*: /digits: /p')
tr -d '\r' <"$work/ctest.log" | grep -qF -- "$golden" || { cat "$work/ctest.log"; fail "not '$golden'"; }
grep -q 'C++: all as it should be' "$work/ctest.log" || fail "no verdict"
echo "C++17 on $target: exact"
