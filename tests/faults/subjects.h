/* The networks that faults are injected into, and an application that uses one. */
#ifndef DORY_TESTS_SUBJECTS_H
#define DORY_TESTS_SUBJECTS_H

#include "dory/hal_host.h"
#include "dory/run.h"

#define SUBJECTS      6
#define OUTPUT_BYTES  8192
#define RAM_BYTES     16384 /* of the machine, where nothing else is said: less to set up than GAP8's 8 MiB */
#define MAXIMUM_PORTS 8

struct subject {
    const char *name;
    const struct dory_network *network;
    const unsigned char *weights;
};
extern const struct subject subjects[SUBJECTS];

/* What is done wrong, or otherwise than usual. */
struct mistakes {
    struct hal_host_options machine;
    const void *flash; /* null: the images linked into this program */
    size_t flash_bytes;
    bool without_l3, without_cluster;
    bool without_check, without_load;            /* of the flash image, at the start; of the weights that stay in L2 */
    void (*spoil)(struct dory_buffers *buffers); /* null: nothing is wrong with them */
    void (*overwrite)(const struct subject *subject, struct dory_buffers *buffers); /* between load and run */
    int (*observe)(void *user, const struct dory_buffers *buffers, unsigned layer);
    enum hal_host_call failing; /* where nth is not 0 */
    uint64_t nth;
};

struct outcome {
    int status; /* the first that was not 0 */
    struct hal_host_counters counters;
    uint8_t outputs[OUTPUT_BYTES]; /* one behind the other */
    size_t output_bytes;
};

/* Like a careful application: opens, runs, closes what it has opened, and keeps the first status. */
void use_subject(const struct subject *subject, const struct mistakes *mistakes, struct outcome *outcome);

#endif
