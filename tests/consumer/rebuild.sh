#!/usr/bin/env bash
# dory_add_network in a build that goes on: what is made again, when, and what a failure leaves behind.
# Usage: rebuild.sh SOURCE WORK PREFIX      dory is installed in PREFIX
set -euo pipefail
source=$1 work=$2 prefix=$3

fail() { echo "FAILED: $*" >&2; exit 1; }

rm -rf "$work"
mkdir -p "$work/project"
cd "$work"
cp "$source/apps/digits/digits.onnx" project/model.onnx
cp "$source/tests/consumer/project/single.c" "$source/tests/consumer/project/run.h" project/
cp "$prefix/bin/dory" dory
echo '{"l1_bytes": 40000}' >project/options.json
cat >project/CMakeLists.txt <<'PROJECT'
cmake_minimum_required(VERSION 3.25)
project(rebuild LANGUAGES C)
find_package(dory REQUIRED)
dory_add_network(digits model.onnx CONFIG options.json)
add_executable(single single.c)
target_link_libraries(single PRIVATE digits)
PROJECT

cmake -G Ninja -S project -B build "-DCMAKE_PREFIX_PATH=$prefix" "-DDORY_GENERATOR=$work/dory" >log 2>&1 || { cat log; fail cmake; }

# expect WHAT [TEXT...]: the build succeeds; each TEXT is in its output, or, with a ! before it, is not.
expect() {
  local what=$1 text
  shift
  ninja -C build -v >log 2>&1 || { cat log; fail "$what: the build failed"; }
  for text in "$@"; do
    case $text in
      !*) if grep -q -- "${text#!}" log; then cat log; fail "$what: ${text#!} was run"; fi ;;
      *) grep -q -- "$text" log || { cat log; fail "$what: no $text"; } ;;
    esac
  done
  ninja -C build -n >log
  grep -q 'no work to do' log || { cat log; fail "$what: there is still work to do after it"; }
}
generate='dory generate' compile='digits_network/digits.c -o\|-c .*digits.c' link='-o single'

expect "first build" "$generate" "$compile"
expect "nothing changed" "no work to do"
touch project/model.onnx
expect "model touched" "$generate" "!$compile" "!$link"
echo '{"l1_bytes": 20000, "cores": 4}' >project/options.json
expect "configuration changed" "$generate" "$compile" "$link"
sleep 0.01
touch dory
expect "generator made anew" "$generate" "!$compile" "!$link"
cp "$source/tests/consumer/project/model/residual.onnx" project/model.onnx
expect "model changed" "$generate" "$compile" "$link"
sed -i 's/CONFIG options.json/& OPTIONS --report/' project/CMakeLists.txt
expect "report asked for" "$generate"
sed -i 's/ OPTIONS --report//' project/CMakeLists.txt
expect "report no longer asked for" "$generate"

# A model that is broken stops the build with the generator's message, and leaves everything as it was.
cp -rp build/digits_network kept
head -c 5000 "$source/apps/digits/digits.onnx" >project/model.onnx
if ninja -C build >log 2>&1; then fail "a truncated model was built"; fi
grep -q 'model.onnx: error: ' log || { cat log; fail "no message of the generator"; }
diff -r kept build/digits_network || fail "a failed generation changed files"
printf '{"l1_bytes": 20000, "cores": 4, "cors": 1}' >project/options.json
if ninja -C build >log 2>&1; then fail "a wrong configuration was built"; fi
grep -q "unknown key 'cors'; did you mean 'cores'" log || { cat log; fail "no message about the configuration"; }
diff -r kept build/digits_network || fail "a failed generation changed files"

cp "$source/apps/digits/digits.onnx" project/model.onnx
echo '{}' >project/options.json
expect "mended" "$generate" "$compile" "$link"
echo "dory_add_network makes again what must be, and nothing else"
