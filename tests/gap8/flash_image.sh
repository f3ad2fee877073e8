#!/usr/bin/env bash
# flash_image.py: gvsoc's ROM boots what it makes, and the program finds its data; the image for a bootloader at 0x40000 of the flash has the
# same parts at the same places of the flash; a program that would overwrite that bootloader is refused.
# Usage: flash_image.sh PYTHON FLASH_IMAGE ELF WORK RUN_GVSOC...
set -euo pipefail
python=$1 flash_image=$2 elf=$3 work=$4
shift 4
rm -rf "$work"
mkdir -p "$work"
fail() { echo "FAILED: $*" >&2; exit 1; }

"$python" "$flash_image" "$elf" "$work/rom.img"
"$@" --flash-image "$work/rom.img" "$elf" || fail "booted from rom.img, the program ends with status $?"
head -c 4 /dev/zero >"$work/none.img"
if "$@" --timeout 3 --flash-image "$work/none.img" "$elf" >"$work/none.log" 2>&1; then fail "gvsoc does not boot from the image"; fi

"$python" "$flash_image" --for bootloader "$elf" "$work/bootloader.img"
offset=$((0x100000)) start=$((0x40000)) # DORY_FLASH_OFFSET's default
cmp <(tail -c +$((offset + 1)) "$work/rom.img") <(tail -c +$((offset - start + 1)) "$work/bootloader.img") || fail "data"
cmp -n 16384 "$work/rom.img" "$work/bootloader.img" || fail "boot image"

"$python" - "$elf" "$work/high.elf" <<'PYTHON'
import struct, sys
data = bytearray(open(sys.argv[1], 'rb').read())
table, = struct.unpack_from('<I', data, 0x1C)
struct.pack_into('<I', data, table + 12, 0x1C060000)  # where the first segment is loaded
open(sys.argv[2], 'wb').write(data)
PYTHON
if "$python" "$flash_image" --for bootloader "$work/high.elf" "$work/high.img" 2>"$work/high.log"; then fail "the bootloader is overwritten"; fi
grep -q 'overwrites the bootloader' "$work/high.log" || fail "$(cat "$work/high.log")"
[ ! -e "$work/high.img" ] || fail "an image of a program that is refused"
