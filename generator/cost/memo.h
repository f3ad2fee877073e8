/* What layers cost that have been asked for. Shared by threads. */
#ifndef DORYGEN_COST_MEMO_H
#define DORYGEN_COST_MEMO_H

#include "dory/cost.h"

struct cost_memo;

struct cost_key {
    struct dory_cost_layer layer;
    uint32_t mode;
};

struct cost_answer {
    struct dory_cost cost;
    bool runs;
};

/* Null: no memory. */
struct cost_memo *cost_memo_make(void);
void cost_memo_free(struct cost_memo *memo);

bool cost_memo_find(struct cost_memo *memo, const struct cost_key *key, struct cost_answer *answer);
void cost_memo_add(struct cost_memo *memo, const struct cost_key *key, const struct cost_answer *answer);

#endif
