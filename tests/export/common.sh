# What the scripts of this folder share: they source it with their own arguments, SOURCE WORK PREFIX SHARED.
set -euo pipefail
source=$1 work=$2 dory=$3/bin/dory shared=$4
here=$source/tests/export

fail() { echo "FAILED: $*" >&2; exit 1; }

rm -rf "$work"
mkdir -p "$work"
cd "$work"

export_network() { # NAME MODEL TARGET: into the folder NAME, without its warnings of slow kernels
  "$dory" export "$1" "$2" --name "$1" --target "$3" --quiet 2>log || { cat log; fail "$1 is not exported"; }
}

macro() { sed -n "s/^#define $(tr '[:lower:]' '[:upper:]' <<<"$1")_$2 *\\([^ ]*\\).*/\\1/p" "$1/src/$1.h"; } # NAME MACRO

# NAME MODEL RUNS: NAME_cases.h, with random inputs and the golden model's outputs for them, as main.c has them.
write_cases() {
  local name=$1 model=$2 runs=$3 inputs outputs port run bits first arguments
  inputs=$(macro "$name" INPUT_COUNT) outputs=$(macro "$name" OUTPUT_COUNT)
  {
    echo "#include \"$name.h\""
    echo "#define ARENA_BYTES $(macro "$name" ARENA_BYTES)"
    echo "#define RUNS $runs"
    echo "#define MOST_BYTES $(sed -n 's/^#define .*PUT.*_BYTES //p' "$name/src/$name.h" | sort -n | tail -n 1)"
    echo "#define INPUTS ${inputs:-1}"
    echo "#define OUTPUTS ${outputs:-1}"
    if [ -n "$inputs$outputs" ]; then echo "#define RUN(arena, in, out) ${name}_run(arena, in, out)"
    else echo "#define RUN(arena, in, out) ${name}_run(arena, in[0], out[0])"; fi
    for ((run = 0; run < runs; run++)); do
      arguments=()
      for port in $(ports INPUT "$inputs"); do
        bits=$(macro "$name" "${port}_BITS") first=0
        if [ "$(macro "$name" "${port}_IS_SIGNED")" = 1 ]; then first=$((-(1 << (bits - 1)))); fi
        awk -v seed=$((run * 7 + ${#arguments[@]})) -v count="$(elements "$name" "$port")" -v first=$first -v all=$((1 << bits)) \
          'BEGIN { srand(seed); while (count-- > 0) print first + int(rand() * all) }' >"$name.$port.$run"
        arguments+=(--input "$name.$port.$run")
      done
      for port in $(ports OUTPUT "$outputs"); do arguments+=(--output "$name.$port.$run"); done
      "$dory" run "$model" --quiet "${arguments[@]}" >/dev/null 2>log || { cat log >&2; fail "dory run $model"; }
    done
    for side in INPUT OUTPUT; do
      echo "static const struct port ${side,,}s[] = {"
      for port in $(ports $side "$(macro "$name" ${side}_COUNT)"); do
        echo "{$(macro "$name" "${port}_BITS"), $(macro "$name" "${port}_IS_SIGNED"), $(macro "$name" "${port}_CHANNELS"), $(elements "$name" "$port"), $(macro "$name" "${port}_BYTES"), (const int32_t[]){"
        for ((run = 0; run < runs; run++)); do grep -v '^#' "$name.$port.$run" | tr -d ' ' | sed 's/,*$/,/'; done
        echo "}},"
      done
      echo "};"
    done
  } >"${name}_cases.h"
}
ports() { if [ -z "$2" ]; then echo "$1"; else seq -f "$1_%g" 0 $(($2 - 1)); fi; } # SIDE COUNT
elements() { echo $(($(macro "$1" "$2_HEIGHT") * $(macro "$1" "$2_WIDTH") * $(macro "$1" "$2_CHANNELS"))); } # NAME PORT
