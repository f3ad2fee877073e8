/* Reads what a firmware wrote about its tensors (kernels/include/dory/dump.h) out of a log. Logs are untrusted: they lack
 * lines and characters, begin and end anywhere, and other text stands between and within the lines. */
#ifndef DORYGEN_DUMP_LOG_H
#define DORYGEN_DUMP_LOG_H

#include "base/support.h"
#include "network/network.h"

struct dumped_tensor {
    uint8_t *bytes;
    bool *has; /* by byte: it was in the log */
    size_t size, missing;
    bool occurs; /* any byte of it */
};

struct dumped_run {
    size_t line;      /* of the log, where the run starts; from 1 */
    const char *name; /* of the network, as the firmware has it */
    uint32_t model_hash;
    bool is_of_model; /* else its tensors were not read */
    int announced;    /* tensors that the firmware meant to write */
    struct dumped_tensor *inputs, *layers;
    bool has_end;
    int status; /* of the run, where it has an end */
};

struct dump_log {
    struct dumped_run *runs;
    int run_count;
    size_t damaged; /* lines */
};

/* Line by line, what is wrong with them as warnings: "log: warning: line 12 ...". The file's name is in `diagnostics`.
 * False after an error: the file cannot be read. */
bool dump_log_read(const char *path, const struct network *network, uint32_t model_hash, struct dump_log *log,
                   struct arena *arena, struct diagnostics *diagnostics);

#endif
