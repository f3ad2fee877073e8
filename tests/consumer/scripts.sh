#!/usr/bin/env bash
# Scripts that end well have done what they were asked for: wrong arguments, folders that are not there and simulators that are
# missing show in their exit status. Usage: scripts.sh SOURCE WORK GENERATOR
set -uo pipefail
source=$1 work=$2 generator=$3
failures=0 count=0
rm -rf "$work"
mkdir -p "$work"
for part in CMakeLists.txt CMakePresets.json boards cmake hal kernels scripts toolchains tests apps; do ln -s "$source/$part" "$work/$part"; done
cd "$work" || exit 1
unset DORY_GVSOC_ROOT DORY_GVSOC_SIRACUSA_ROOT DORY_GVSOC_PULP_OPEN_ROOT DORY_SHARED_MODELS
export DORY_GENERATOR=$generator

# expect STATUS TEXT COMMAND...: ends with the status, and has the text in its output
expect() {
  local status=$1 text=$2 found
  shift 2
  count=$((count + 1))
  "$@" >log 2>&1 </dev/null
  found=$?
  if [ $found -ne "$status" ] || ! tr -s ' \n' ' ' <log | grep -qF -- "$text"; then
    echo "FAILED: $*: exit status $found, expected $status and '$text':"
    cat log
    failures=$((failures + 1))
  fi
}

# A folder for the tools in which there is no gvsoc, and, as soon as it is needed, no QEMU.
mkdir bin
for tool in bash sh cmake ninja cc gcc python3 riscv64-unknown-elf-gcc sed grep tr tail basename dirname realpath find sort flock mkdir rm cat mktemp \
  wc nproc sleep id dpkg-query env uname tee; do
  if path=$(command -v $tool); then ln -sf "$path" bin/$tool; fi
done
for suffix in ar ranlib nm objcopy objdump as ld strip; do
  if path=$(command -v riscv64-unknown-elf-$suffix); then ln -sf "$path" bin/; fi
done
verify=$work/scripts/verify
if command -v riscv64-unknown-elf-gcc >/dev/null; then
  expect 77 "skipped: gvsoc was not found" env PATH="$work/bin" "$verify" apps/digits/digits.onnx --target gap8
  expect 77 "skipped: the maintained gvsoc was not found" env PATH="$work/bin" "$verify" apps/digits/digits.onnx --target siracusa
  expect 77 "configure with -DDORY_GVSOC_PULP_OPEN_ROOT=DIR" env PATH="$work/bin" "$verify" apps/digits/digits.onnx --target pulp_open
  expect 77 "skipped: qemu-system-riscv32 was not found" env PATH="$work/bin" "$verify" apps/digits/digits.onnx --target virt
  expect 1 "DORY_GVSOC_ROOT is /nowhere, and there is no bin/gvsoc_launcher" env DORY_GVSOC_ROOT=/nowhere "$verify" apps/digits/digits.onnx --target gap8
  expect 1 "there is no bin/gvsoc in it. Without gvsoc, leave DORY_GVSOC_PULP_OPEN_ROOT empty" env DORY_GVSOC_PULP_OPEN_ROOT=/nowhere "$verify" apps/digits/digits.onnx --target pulp_open
  expect 1 "DORY_GVSOC_SIRACUSA_ROOT is /nowhere, and there is no bin/gvsoc" env DORY_GVSOC_SIRACUSA_ROOT=/nowhere "$verify" apps/digits/digits.onnx --target siracusa
fi
expect 1 "/nowhere.json does not exist" "$verify" apps/digits/digits.onnx --config /nowhere.json
expect 1 "a whole number above 0 is expected" "$verify" apps/digits/digits.onnx --l1-bytes lots
expect 1 "DORY_GENERATOR names /nowhere, which does not exist" env DORY_GENERATOR=/nowhere "$verify" apps/digits/digits.onnx
expect 1 "no such file or folder" "$verify" missing.onnx
expect 1 "in this folder" "$verify" bin
expect 2 "usage" "$verify"
expect 2 "usage" "$verify" apps/digits/digits.onnx --target gap9
expect 2 "usage" "$verify" apps/digits/digits.onnx --fast
expect 1 "there is no preset hots" scripts/check hots
expect 1 "unknown option --fast" scripts/check --fast
expect 1 "no folder of shared models" scripts/check --shared-models /nowhere
expect 1 "no folder of shared models" env DORY_SHARED_MODELS=/nowhere scripts/check
expect 1 "usage: scripts/sweep_cortexm" scripts/sweep_cortexm
expect 1 "usage: scripts/sweep_cortexm" scripts/sweep_cortexm /nowhere
expect 1 "usage: scripts/compare_tflm" scripts/compare_tflm
expect 1 "usage: scripts/compare_tflm" scripts/compare_tflm m44
expect 1 "needs a folder" scripts/compare_tflm --tflm /nowhere
expect 1 "no models" env DORY_SHARED_MODELS= scripts/compare_tflm --tflm . --cmsis-nn .
expect 1 "flatbuffers is not there" scripts/compare_tflm --tflm . --cmsis-nn . --shared-models .
expect 1 "it takes no 'fast'" scripts/demo fast
expect 1 "it takes no 'fast'" scripts/lint fast
expect 1 "usage: scripts/tidy.py" scripts/tidy.py build/host
expect 1 "there is no $work/nowhere.c" scripts/tidy.py build/host nowhere.c
expect 1 "configure it with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON" scripts/tidy.py bin scripts/tidy.py
expect 2 "usage: scripts/prose" scripts/prose
expect 2 "/nowhere.md" scripts/prose /nowhere.md
expect 1 "usage: draw_memory.py" scripts/draw_memory.py
expect 1 "/nowhere.json: no report of dory" scripts/draw_memory.py /nowhere.json picture.svg
expect 1 "no report of dory" scripts/draw_memory.py CMakePresets.json picture.svg
expect 1 "no whole number of percent" scripts/coverage 9O
expect 2 "usage: scripts/install_dependencies" scripts/install_dependencies chekc
expect 1 "DORY_GVSOC_ROOT must name the folder" scripts/measure
expect 1 "DORY_GVSOC_SIRACUSA_ROOT must name the folder" scripts/measure siracusa
expect 1 "DORY_GVSOC_PULP_OPEN_ROOT must name the folder" scripts/measure pulp_open
expect 1 "no program /nowhere/dory: cmake --preset host" env DORY_GENERATOR=/nowhere/dory DORY_GVSOC_ROOT=/nowhere scripts/measure
expect 1 "no folder /nowhere" env DORY_GVSOC_ROOT=/nowhere DORY_SHARED_MODELS=/nowhere scripts/measure
expect 1 "no folder /nowhere/Models/microLlama/INT8/microLlama1" env DORY_GVSOC_ROOT=/nowhere DORY_DEEPLOY_TESTS=/nowhere scripts/measure transformers --networks microLlama1
expect 2 "argument --places: invalid choice: 9" scripts/measure clocks --places 9
expect 125 "no launcher of gvsoc below /nowhere" cmake/gvsoc/run_gvsoc.py --root /nowhere bin/sed
expect 2 "either an ELF file or --test" cmake/gvsoc/run_gvsoc.py --root /nowhere
expect 2 "--cpx-stream without --cpx" cmake/gvsoc/run_gvsoc.py --root /nowhere --cpx-stream x bin/sed

echo "$count wrong calls of scripts, $failures passed for right ones"
exit $((failures != 0))
