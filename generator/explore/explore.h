/* dory explore: one network over clocks and sizes of memory. Internal to the command, and for tests. */
#ifndef DORYGEN_EXPLORE_H
#define DORYGEN_EXPLORE_H

#include "base/outputs.h"
#include "base/text.h"
#include "plan/plan.h"

struct clock_pair {
    uint32_t controller_mhz, cluster_mhz;
};

/* What is asked. Lists are not empty. */
struct explore_question {
    const struct network *network;
    const struct target *target; /* at equal clocks */
    unsigned cores;              /* 0: the target's */
    uint32_t application_bytes;  /* of L2, beside the firmware's */
    const uint32_t *l1_bytes, *l2_bytes;
    const struct clock_pair *clocks;
    int l1_count, l2_count, clock_count;
    double deadline_milliseconds; /* 0: none */
};

struct explored {
    uint32_t l1_bytes, l2_bytes;
    struct clock_pair clocks;
    uint64_t cycles;                 /* of the cluster, predicted; 0: the network does not fit */
    double milliseconds, milliwatts; /* an estimate; 0: the target's description has no power for these clocks */
    double millijoules;
    bool is_on_front; /* no other is as fast and takes less energy, or the other way round */
};

struct exploration {
    const struct explore_question *question;
    struct explored *points; /* for l1_bytes, for l2_bytes, for clocks */
    int count, plans;        /* plans: that were made; pairs of clocks with one ratio share theirs */
    int cheapest;            /* of those that meet the deadline, or of all where there is none; -1: none is known to */
    int fastest;             /* with the memories of `cheapest`, else of all; -1: nothing fits */
};

/* Plans in processes of their own, as many as this PC has cores. False after an error was reported. */
bool explore(const struct explore_question *question, struct exploration *exploration, struct arena *arena,
             struct diagnostics *diagnostics);

/* explore_estimate.c: milliseconds, energy, front, cheapest and fastest, from the points' cycles. */
void explore_estimate(struct exploration *exploration);

/* For people; explore.json; explore.html. */
void explore_text(const struct exploration *exploration, struct text *text);
void explore_add_files(const struct exploration *exploration, struct outputs *outputs, struct arena *arena);

#endif
