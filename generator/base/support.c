#include "base/support.h"

#include <ctype.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/terminal.h"

/* ---- arena ---- */

/* Many arenas live for one schedule and need little: blocks start small and double. Of a large block the system gives pages
 * that are zero, as they are used; small ones have been used before, and are cleared as they are given out. */
#define LEAST_BLOCK_BYTES    ((size_t)16 * 1024)
#define MAXIMUM_BLOCK_BYTES  ((size_t)256 * 1024)
#define LARGE_BLOCK_BYTES    ((size_t)128 * 1024)
#define ALLOCATION_ALIGNMENT 16

struct arena_block {
    struct arena_block *older;
    size_t used, capacity;
    bool is_clear;
    alignas(ALLOCATION_ALIGNMENT) unsigned char bytes[];
};

static _Noreturn void out_of_memory(size_t bytes)
{
    fprintf(stderr, "dory: error: out of memory (%zu bytes)\n", bytes);
    exit(3);
}

static void add_block(struct arena *arena, size_t least_bytes)
{
    size_t capacity = arena->newest ? 2 * arena->newest->capacity : LEAST_BLOCK_BYTES;
    capacity = capacity > MAXIMUM_BLOCK_BYTES ? MAXIMUM_BLOCK_BYTES : capacity;
    capacity = capacity > least_bytes ? capacity : least_bytes;
    bool is_clear = capacity >= LARGE_BLOCK_BYTES;
    struct arena_block *block = is_clear ? calloc(1, sizeof *block + capacity) : malloc(sizeof *block + capacity);
    if (!block)
        out_of_memory(capacity);
    *block = (struct arena_block){.older = arena->newest, .capacity = capacity, .is_clear = is_clear};
    arena->newest = block;
}

void *arena_allocate(struct arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        out_of_memory(bytes);
    bytes = (bytes + ALLOCATION_ALIGNMENT - 1) / ALLOCATION_ALIGNMENT * ALLOCATION_ALIGNMENT;
    if (!arena->newest || bytes > arena->newest->capacity - arena->newest->used)
        add_block(arena, bytes);
    struct arena_block *block = arena->newest;
    void *memory = block->bytes + block->used;
    block->used += bytes;
    return block->is_clear ? memory : memset(memory, 0, bytes);
}

void *arena_allocate_array(struct arena *arena, size_t count, size_t element_bytes)
{
    if (element_bytes && count > SIZE_MAX / element_bytes)
        out_of_memory(SIZE_MAX);
    return arena_allocate(arena, count * element_bytes);
}

static char *format_into(struct arena *arena, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    size_t bytes = length < 0 ? 1 : (size_t)length + 1;
    char *text = arena_allocate(arena, bytes);
    vsnprintf(text, bytes, format, arguments);
    return text;
}

char *arena_format(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format_into(arena, format, arguments);
    va_end(arguments);
    return text;
}

#define LEAST_ROOM 16 /* elements of a list that grows, and a power of two as all its sizes are */

void *arena_grow_list(struct arena *arena, void *list, size_t count, size_t element_bytes)
{
    bool is_full = count == 0 || (count >= LEAST_ROOM && (count & (count - 1)) == 0);
    if (!is_full)
        return list;
    void *larger = arena_allocate_array(arena, count ? 2 * count : LEAST_ROOM, element_bytes);
    return count ? memcpy(larger, list, count * element_bytes) : larger;
}

void *arena_copy_array(struct arena *arena, const void *list, size_t count, size_t element_bytes)
{
    void *copy = arena_allocate_array(arena, count, element_bytes);
    return count ? memcpy(copy, list, count * element_bytes) : copy;
}

void arena_free(struct arena *arena)
{
    while (arena->newest) {
        struct arena_block *older = arena->newest->older;
        free(arena->newest);
        arena->newest = older;
    }
}

/* ---- diagnostics ---- */

#define MAXIMUM_DIAGNOSTICS 1000 /* a hostile file can have a fault in each of a million nodes */

static struct diagnostic *next_diagnostic(struct diagnostics *diagnostics)
{
    arena_grow(diagnostics->arena, diagnostics->list, diagnostics->count);
    return &diagnostics->list[diagnostics->count++];
}

static const char *copy_or_null(struct arena *arena, const char *text)
{
    return text ? arena_format(arena, "%s", text) : NULL;
}

void diagnose(struct diagnostics *diagnostics, enum severity severity, const char *node, const char *attribute,
              const char *format, ...)
{
    if (severity == SEVERITY_ERROR)
        diagnostics->error_count++;
    if (diagnostics->count >= MAXIMUM_DIAGNOSTICS)
        return;
    struct diagnostic *entry = next_diagnostic(diagnostics);
    entry->severity = severity;
    entry->node = copy_or_null(diagnostics->arena, node);
    entry->attribute = copy_or_null(diagnostics->arena, attribute);
    va_list arguments;
    va_start(arguments, format);
    entry->text = format_into(diagnostics->arena, format, arguments);
    va_end(arguments);
}

/* Names come from an untrusted file: no control characters reach a terminal, and no name fills the screen. */
static void print_name(const char *name, FILE *stream)
{
    const int shown = 120;
    for (int i = 0; name[i] && i < shown; i++)
        fputc(iscntrl((unsigned char)name[i]) ? '?' : name[i], stream);
    if (strlen(name) > (size_t)shown)
        fputs("...", stream);
}

static void print_text(const char *text, FILE *stream)
{
    for (; *text; text++)
        fputc(iscntrl((unsigned char)*text) && *text != '\n' ? '?' : *text, stream);
}

static void print_diagnostic(const struct diagnostic *entry, const char *file, FILE *stream)
{
    static const char *const severity_words[] = {"note", "warning", "error"};
    static const enum colour colours[] = {COLOUR_NONE, COLOUR_YELLOW, COLOUR_RED};
    if (entry->severity == SEVERITY_NOTE && terminal_is_quiet())
        return;
    fprintf(stream, "%s: %s%s%s: ", file ? file : "dory", terminal_colour(stream, colours[entry->severity]),
            severity_words[entry->severity], terminal_colour(stream, COLOUR_NONE));
    if (entry->node) {
        fputs("node '", stream);
        print_name(entry->node, stream);
        fputc('\'', stream);
    }
    if (entry->attribute) {
        fputs(entry->node ? ", attribute '" : "setting '", stream);
        print_name(entry->attribute, stream);
        fputc('\'', stream);
    }
    if (entry->node || entry->attribute)
        fputs(": ", stream);
    print_text(entry->text, stream);
    fputc('\n', stream);
}

void diagnostics_print(const struct diagnostics *diagnostics, FILE *stream)
{
    for (int i = 0; i < diagnostics->count; i++)
        print_diagnostic(&diagnostics->list[i], diagnostics->file, stream);
    if (diagnostics->count == MAXIMUM_DIAGNOSTICS)
        fprintf(stream, "%s: note: there may be more; only the first %d messages are shown (%d errors in all)\n",
                diagnostics->file ? diagnostics->file : "dory", MAXIMUM_DIAGNOSTICS, diagnostics->error_count);
}
