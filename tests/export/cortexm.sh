#!/usr/bin/env bash
# Exported networks for Cortex-M4 and M55: built by Debian's compiler alone; under QEMU, where it is there, all results are the golden
# model's. The size of a keyword spotter's program is printed and held.
# Usage: cortexm.sh SOURCE WORK PREFIX SHARED      dory is installed in PREFIX
. "$(dirname "$(realpath "$0")")/common.sh"
for program in arm-none-eabi-gcc qemu-system-arm; do
  command -v $program >/dev/null || { echo "no $program"; exit 77; }
done
[ -f "$(arm-none-eabi-gcc -print-file-name=picolibc.specs)" ] || { echo "no picolibc for arm-none-eabi"; exit 77; }

MOST_PROGRAM_BYTES=25000 # of the keyword spotter: code and constants, without weights

# The board is the test's: start-up code and memories of QEMU's MPS boards.
core() { # m4 or m55: sets flags, machine, and writes the linker script
  toolchain=$source/toolchains/$1.cmake
  value() { sed -n "s/^set($1 \"*\\([^\"]*\\)\"*)\$/\\1/p" "$toolchain"; }
  read -ra flags <<<"$(value DORY_CORTEXM_FLAGS) --specs=picolibc.specs"
  machine=$(value DORY_MPS_BOARD)
  sed "s/@DORY_MPS_CODE@/$(value DORY_MPS_CODE)/; s/@DORY_MPS_DATA@/$(value DORY_MPS_DATA)/; s/@DORY_MPS_SRAM@/$(value DORY_MPS_SRAM)/" \
    "$source/boards/mps/mps.ld.in" >mps.ld
}

run() { # NAME MODEL CORE
  local name=$1 objects=$1.$3
  core "$3"
  rm -rf "$name"
  export_network "$name" "$2" "cortex-$3"
  write_cases "$name" "$2" 2
  mkdir "$objects"
  (cd "$objects" && arm-none-eabi-gcc "${flags[@]}" -Wall -Wextra -Werror -O2 -ffunction-sections -fdata-sections -c \
    "../$name/src/"*.c "../$name/src/dory/"*.c) || fail "$name does not compile for $3"
  arm-none-eabi-gcc "${flags[@]}" -O2 -DCASES="\"${name}_cases.h\"" -I. -I"$name/src" "$here/main.c" "$source/boards/mps/start.c" \
    "$source/boards/mps/console.c" "$objects"/*.o -nostartfiles -T mps.ld -Wl,--gc-sections -Wl,-Map="$objects.map" -o "$objects.elf" ||
    fail "$name does not link for $3"
  timeout 60 qemu-system-arm -M "$machine" -display none -serial none -monitor none -semihosting-config enable=on,target=native \
    -kernel "$objects.elf" || fail "$name on $3"
}

# With options of a Debug build, too, assembly finds its registers; a core that the compiler does not know is no slow program.
any_options() { # NAME CORE WRONG-OPTION...
  local name=$1 core=$2 options
  shift 2
  core "$core"
  for options in -O0 -Og -Os "-O2 -fno-omit-frame-pointer"; do
    # shellcheck disable=SC2086
    (mkdir -p any && cd any && arm-none-eabi-gcc "${flags[@]}" -Wall -Wextra -Werror $options -c "../$name/src/dory/"*.c) ||
      fail "$name does not compile for $core with $options"
  done
  ! arm-none-eabi-gcc "$@" -mthumb --specs=picolibc.specs -fsyntax-only "$name/src/dory/"*.c 2>log || fail "$name compiles with $*"
  grep -q 'error: #error "planned for a core with' log || { cat log; fail "$name with $*: another error"; }
}

# Bytes of those sections of the network's own objects that are in the program, without weights.
size() { # OBJECTS
  local sum=0 bytes
  for bytes in $(awk -v objects="$1/" '/^Linker script and memory map/ { is_map = 1 }
      is_map && /^ [.](text|rodata)/ && NF == 1 { is_split = 1; next }
      is_map && ((is_split && NF == 3) || (/^ [.](text|rodata)/ && NF == 4)) && index($NF, objects) == 1 && $NF !~ /_weights[.]o$/ { print $(NF - 1) }
      { is_split = 0 }' "$1.map"); do
    sum=$((sum + bytes))
  done
  echo $sum
}

run digits "$source/apps/digits/digits.onnx" m4
any_options digits m4 -mcpu=cortex-m3
run digits "$source/apps/digits/digits.onnx" m55
any_options digits m55 -mcpu=cortex-m55
model=$shared/mlperf_tiny/kws_ds_cnn/model.tflite
if [ ! -f "$model" ]; then
  echo "no shared models: the keyword spotter is not looked at"
  exit 0
fi
run kws "$model" m4
bytes=$(size kws.m4)
echo "kws on m4: $bytes bytes of code and constants without weights, $(macro kws ARENA_BYTES) of arena"
[ "$bytes" -gt 5000 ] && [ "$bytes" -le $MOST_PROGRAM_BYTES ] || fail "kws is larger than $MOST_PROGRAM_BYTES bytes"
