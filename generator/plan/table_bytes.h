/* Bytes of L2 that the generated tables take on the target, a few per cent too many. */
#ifndef DORYGEN_TABLE_BYTES_H
#define DORYGEN_TABLE_BYTES_H

#include "plan/plan.h"

/* Of a network without its layers, of a layer, of steps and transfers. */
uint32_t table_bytes_of_network(const struct network *network);
uint32_t table_bytes_of_layer(const struct dory_layer *record);
uint32_t table_bytes_of_schedule(int steps, int transfers);

/* All of them, with weights that are linked and the tiles that are placed; none where constants lie in flash. */
uint32_t table_bytes_of_plan(const struct plan *plan);

#endif
