#!/bin/sh
# flip.sh IN OUT: copies a file with its last bit of byte 5000 flipped.
set -e
cp "$1" "$2"
byte=$(od -An -tu1 -j5000 -N1 "$1")
printf "\\$(printf %03o $((byte ^ 1)))" | dd of="$2" bs=1 seek=5000 conv=notrunc 2>/dev/null
