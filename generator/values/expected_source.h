/* What makes expected values of files, in its parts: the state that they share. See expected.h. */
#ifndef DORYGEN_EXPECTED_SOURCE_H
#define DORYGEN_EXPECTED_SOURCE_H

#include "values/expected.h"

struct source {
    const struct network *network; /* what files and the golden model have the values of */
    const struct network *emitted; /* the same, or without its dead channels: what the images hold */
    const struct expected_options *options;
    struct expected *expected;
    unsigned sample;
    bool *differs;    /* by layer: its file is not what the model gives */
    bool *has_file;   /* by layer: there is one */
    int64_t **told;   /* of all tensors: as files have them, and the model computes on from there */
    int64_t **values; /* of all tensors; golden, then replaced by those of files */
    struct arena *arena;
    struct arena *scratch; /* for one sample */
    struct diagnostics *diagnostics;
};

/* expected_bytes.c: what a tensor's bits can hold. */
int64_t expected_least_element(const struct tensor *tensor);
int64_t expected_greatest_element(const struct tensor *tensor);

/* ---- expected_files.c ---- */

void expected_note_file(const struct source *source, const char *path); /* that was read */
/* Null where the folder has no such file. */
const char *expected_find_file(const struct source *source, const char *name);
/* The file of a run: of several inputs or outputs there is one each, in the model's order. States, which come last, may have
 * none, and do not count then. */
const char *expected_run_file(const struct source *source, const char *role, unsigned sample, int index, int count);

/* ---- the others ---- */

/* expected_layers.c: files of layers, out_layer<n>.txt. False after an error was reported. */
bool expected_take_layers(struct source *source);
/* expected_outputs.c: files of the network's outputs. */
bool expected_take_outputs(const struct source *source);

#endif
