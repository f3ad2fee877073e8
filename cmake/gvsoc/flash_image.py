#!/usr/bin/env python3
"""Makes a file of a GAP8 program to be written to a HyperFlash: its boot image and, at its place behind that, the data of
dory_add_flash_data and of its networks.

--for rom          to be written to the flash's start, where the chip's ROM boots from
--for bootloader   for the bootloader of an AI-deck, which lies there itself: its image is written to 0x40000 of the flash, and what it
                   loads must leave the memory that it runs in alone

The data are where the program looks for them, DORY_FLASH_OFFSET of the flash, in both."""
import argparse
import sys

sys.dont_write_bytecode = True  # beside the script, in an installation

from run_gvsoc import FLASH_SECTION, FLASH_WINDOW, L2, Failure, boot_image, elf_section, load_segments

SEGMENTS_LIMIT = 16
L2_END = 0x1C080000
BOOTLOADER_START = 0x40000
BOOTLOADER_MEMORY = [(0x1C060000, 0x18000), (0x1B002000, 0x1000)]


def loaded_segments(path):
    entry, segments = load_segments(path)
    segments = [(address, content) for address, content in segments if content]
    if not 0 < len(segments) <= SEGMENTS_LIMIT:
        raise Failure('%s has %d segments to be loaded; 1 to %d are possible' % (path, len(segments), SEGMENTS_LIMIT))
    for address, content in segments:
        if not L2 <= address <= address + len(content) <= L2_END:
            raise Failure('a segment at 0x%x of 0x%x bytes does not lie in L2' % (address, len(content)))
    return entry, segments


def check_bootloader(segments):
    for address, content in segments:
        for start, size in BOOTLOADER_MEMORY:
            if address < start + size and start < address + len(content):
                raise Failure('what is loaded to 0x%x to 0x%x overwrites the bootloader, which runs from 0x%x on: less initialised data and '
                              'code, please' % (address, address + len(content), start))


def flash_image(path, start):
    entry, segments = loaded_segments(path)
    if start == BOOTLOADER_START:
        check_bootloader(segments)
    image = boot_image(entry, segments)
    section = elf_section(path, FLASH_SECTION)
    if section and section[1]:
        offset = section[0] - FLASH_WINDOW - start
        if offset < len(image):
            raise Failure('flash data at 0x%x overlap the boot image, which ends at 0x%x: set DORY_FLASH_OFFSET'
                          % (offset + start, len(image) + start))
        image = image.ljust(offset, b'\xff') + section[1]
    return image.ljust((len(image) + 3) // 4 * 4, b'\xff')  # the bootloader writes words


def main():
    parser = argparse.ArgumentParser(prog='flash_image', description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('elf', metavar='ELF')
    parser.add_argument('image', metavar='IMAGE')
    parser.add_argument('--for', dest='boots', choices=('rom', 'bootloader'), default='rom')
    arguments = parser.parse_args()
    start = BOOTLOADER_START if arguments.boots == 'bootloader' else 0
    try:
        image = flash_image(arguments.elf, start)
        with open(arguments.image, 'wb') as file:
            file.write(image)
    except (Failure, OSError) as failure:
        sys.exit('flash_image: %s' % failure)
    print('%s: %d bytes, for 0x%x of the flash' % (arguments.image, len(image), start))


if __name__ == '__main__':
    main()
