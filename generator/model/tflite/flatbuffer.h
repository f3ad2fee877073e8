/* Reads FlatBuffers, of which TFLite files are made, without trusting a byte of them.
 *
 * Why not Debian's flatbuffers: its library and its verifier are C++ templates, which would make one C++ file, a code
 * generator and a run time of this generator, whose other code is C; and its verifier walks the whole file before the first
 * number is read, the hundred option tables that dory never looks at included. What dory reads are a dozen tables, and the
 * format is small: a table starts with the distance to its vtable, which has 16-bit places of its fields; strings, vectors
 * and tables in fields are 32-bit distances to what they mean. So each function here checks what it is about to read, and
 * nothing else. Nothing is followed that the caller does not ask for: no loop in the file makes a loop here.
 *
 * A fault is kept in the file, the first one counts, and everything read after it is empty: callers look once, at the end.
 */
#ifndef DORYGEN_FLATBUFFER_H
#define DORYGEN_FLATBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flat_file {
    const unsigned char *bytes;
    size_t length;
    const char *fault; /* null: none. What was found, for people */
    size_t fault_at;   /* byte of the file */
};

/* Checked when it was made. Without bytes: there is none. */
struct flat_table {
    size_t at, bytes, vtable, vtable_bytes;
};

struct flat_vector {
    size_t at; /* of the first element */
    size_t count, element_bytes;
    bool is_there; /* an empty vector is not the same as none */
};

/* Keeps the first fault. */
void flat_fail(struct flat_file *file, size_t at, const char *fault);

struct flat_table flat_root(struct flat_file *file);

/* Number of a field, `bytes` wide, sign extended; `otherwise` where the table leaves it out. */
int64_t flat_integer(struct flat_file *file, struct flat_table table, int field, int bytes, int64_t otherwise);
float flat_float(struct flat_file *file, struct flat_table table, int field, float otherwise);
struct flat_table flat_subtable(struct flat_file *file, struct flat_table table, int field);
struct flat_vector flat_vector(struct flat_file *file, struct flat_table table, int field, size_t element_bytes);

/* Elements; the index is checked. */
int64_t flat_element(struct flat_file *file, struct flat_vector vector, size_t index); /* sign extended */
float flat_element_float(struct flat_file *file, struct flat_vector vector, size_t index);
struct flat_table flat_element_table(struct flat_file *file, struct flat_vector vector, size_t index); /* of distances */

#endif
