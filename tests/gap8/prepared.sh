#!/usr/bin/env bash
# run_gvsoc.py --prepared: gvsoc starts from what gapy itself would make for the program; only a checksum is not in the boot image.
# Usage: prepared.sh PYTHON RUN_GVSOC ROOT ELF WORK
set -euo pipefail
python=$1 run_gvsoc=$2 root=$3 elf=$4 work=$5
rm -rf "$work"
mkdir -p "$work"
fail() { echo "FAILED: $*" >&2; exit 1; }

run() { # NAME [OPTION...]
  local name=$1
  shift
  "$python" "$run_gvsoc" --root "$root" --work-dir "$work/$name" "$@" "$elf" >"$work/$name.log" 2>&1 || { cat "$work/$name.log"; fail "$name: status $?"; }
  sed -i "s|$work/$name|WORK|g" "$work/$name/gvsoc_config.json"
}

run gapy
for name in first second; do
  run $name --prepared "$work/prepared"
  cmp "$work/gapy.log" "$work/$name.log" || fail "output of $name"
  cmp "$work/gapy/gvsoc_config.json" "$work/$name/gvsoc_config.json" || fail "configuration of $name"
  cmp "$work/gapy/efuse_preload.data" "$work/$name/efuse_preload.data" || fail "fuses of $name"
  image=target.board.devices.flash.img
  read -r bytes < <(od -A n -t u4 -N 4 "$work/$name/$image") # of the boot image: its first word
  cmp -n 208 "$work/gapy/$image" "$work/$name/$image" || fail "head of the image of $name"
  cmp -n $((bytes - 212)) -i 212 "$work/gapy/$image" "$work/$name/$image" || fail "image of $name"
done
[ "$(find "$work/prepared" -mindepth 1 -maxdepth 1 | wc -l)" = 1 ] || fail "prepared once, it is there: $(ls "$work/prepared")"
