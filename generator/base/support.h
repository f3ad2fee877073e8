/* What every pass uses: an arena for memory, and diagnostics. */
#ifndef DORYGEN_SUPPORT_H
#define DORYGEN_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- arena: memory that lives as long as one run of the generator; nothing is freed on its own ---- */

struct arena {
    struct arena_block *newest;
};

/* Zeroed memory, 16-byte aligned. Ends the process with a message and exit status 3 when there is none. */
void *arena_allocate(struct arena *arena, size_t bytes);
#define arena_array(arena, type, count) ((type *)arena_allocate_array((arena), (count), sizeof(type)))
void *arena_allocate_array(struct arena *arena, size_t count, size_t element_bytes); /* checks the product */

/* Room for one element more behind the `count` that `list` has: the list stays where it is, or moves to twice the room. It
 * starts as a null pointer, grows by nothing else, and by one element at a time; how much room it has follows from count. */
#define arena_grow(arena, list, count) ((list) = arena_grow_list((arena), (list), (size_t)(count), sizeof *(list)))
void *arena_grow_list(struct arena *arena, void *list, size_t count, size_t element_bytes);

/* The elements of a list once more. */
#define arena_copy(arena, list, count) arena_copy_array((arena), (list), (size_t)(count), sizeof *(list))
void *arena_copy_array(struct arena *arena, const void *list, size_t count, size_t element_bytes);

char *arena_format(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
void arena_free(struct arena *arena);

/* ---- diagnostics: collected, so that one run shows all faults of a model ---- */

enum severity { SEVERITY_NOTE, SEVERITY_WARNING, SEVERITY_ERROR };

struct diagnostic {
    enum severity severity;
    const char *node;      /* null where it is about the whole file */
    const char *attribute; /* of the node; of none: an option, or a key of a file of them; null where it is about all */
    const char *text;      /* what was found, what is supported, what to do */
};

struct diagnostics {
    struct arena *arena;
    const char *file; /* of the model, in front of every message */
    struct diagnostic *list;
    int count;
    int error_count;
};

void diagnose(struct diagnostics *diagnostics, enum severity severity, const char *node, const char *attribute,
              const char *format, ...) __attribute__((format(printf, 5, 6)));

/* "model.onnx: error: node 'Conv_3', attribute 'group': ..." a line each, in the order of their discovery. */
void diagnostics_print(const struct diagnostics *diagnostics, FILE *stream);

#endif
