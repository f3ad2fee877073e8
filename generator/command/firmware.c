#include "command/firmware.h"

#include <errno.h>
#include <string.h>

#define SYMBOL        "dory_l2_firmware_bytes"
#define MAXIMUM_BYTES (64u << 20)
#define SYMBOLTABLE   2 /* sh_type */

struct image {
    const uint8_t *bytes;
    size_t count;
};

struct section {
    uint32_t type, offset, size, link;
};

/* Little endian, whatever this machine is; 0 outside the file, which every check below refuses. */
static uint32_t word_at(const struct image *image, uint64_t offset, unsigned bytes)
{
    uint32_t word = 0;
    if (offset + bytes > image->count)
        return 0;
    for (unsigned i = 0; i < bytes; i++)
        word |= (uint32_t)image->bytes[offset + i] << 8 * i;
    return word;
}

static struct section section_at(const struct image *image, uint32_t index)
{
    uint64_t offset = word_at(image, 32, 4) + (uint64_t)index * word_at(image, 46, 2);
    struct section section = {.type = word_at(image, offset + 4, 4),
                              .offset = word_at(image, offset + 16, 4),
                              .size = word_at(image, offset + 20, 4),
                              .link = word_at(image, offset + 24, 4)};
    if ((uint64_t)section.offset + section.size > image->count)
        section = (struct section){0};
    return section;
}

static bool is_symbol(const struct image *image, const struct section *names, uint32_t name)
{
    return name < names->size && names->size - name >= sizeof SYMBOL &&
           memcmp(image->bytes + names->offset + name, SYMBOL, sizeof SYMBOL) == 0;
}

static bool find_symbol(const struct image *image, uint32_t *value)
{
    uint32_t count = word_at(image, 48, 2);
    for (uint32_t i = 0; i < count; i++) {
        struct section symbols = section_at(image, i), names = section_at(image, symbols.link);
        if (symbols.type != SYMBOLTABLE)
            continue;
        for (uint64_t at = symbols.offset; at + 16 <= (uint64_t)symbols.offset + symbols.size; at += 16)
            if (is_symbol(image, &names, word_at(image, at, 4))) {
                *value = word_at(image, at + 4, 4);
                return true;
            }
    }
    return false;
}

static bool read_file(const char *path, struct image *image, struct arena *arena)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    size_t capacity = 1u << 16, count = 0;
    if (!file)
        return false;
    for (; capacity <= MAXIMUM_BYTES; capacity *= 2) {
        uint8_t *larger = arena_allocate(arena, capacity);
        if (count)
            memcpy(larger, bytes, count);
        bytes = larger;
        count += fread(bytes + count, 1, capacity - count, file);
        if (count < capacity)
            break;
    }
    *image = (struct image){bytes, count};
    bool good = !ferror(file);
    fclose(file);
    return good;
}

bool firmware_l2_bytes(const char *path, uint32_t *bytes, struct arena *arena, struct diagnostics *diagnostics)
{
    static const uint8_t magic[] = {0x7f, 'E', 'L', 'F', 1, 1}; /* 32 bits, little endian */
    struct image image;
    if (!read_file(path, &image, arena)) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, "firmware", "cannot read %s: %s", path, strerror(errno));
        return false;
    }
    if (image.count < sizeof magic || memcmp(image.bytes, magic, sizeof magic) != 0) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, "firmware", "%s is no program (ELF file) for a 32-bit machine", path);
        return false;
    }
    if (!find_symbol(&image, bytes)) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, "firmware",
                 "%s has no symbol " SYMBOL
                 ", which dory's linker scripts define; give the network's memory with --l2-bytes",
                 path);
        return false;
    }
    return true;
}
