/* 64 KiB in flash: byte i is (13 i + i / 256) modulo 256, and a second, short image behind it. */
#include "dory/flash_section.h"

    DORY_FLASH_SECTION
    .balign 8
    .globl flash_image
flash_image:
    .set i, 0
    .rept 65536
    .byte (i * 13 + (i >> 8)) & 255
    .set i, i + 1
    .endr
    .balign 8
    .globl second_image
second_image:
    .ascii "second image in flash..."
