/* Tables of the members of what the emitter prints. */
#ifndef DORYGEN_RECORDS_H
#define DORYGEN_RECORDS_H

#include "emit/print_struct.h"

extern const struct record record_tile, record_prepared_tile, record_copy;
extern const struct record record_layer, record_l1_map, record_stages, record_step, record_transfer, record_network,
    record_port, record_check_layer, record_dump_layer;

#endif
