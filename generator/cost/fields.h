/* The fields of a layer in tables: their names, and how their texts are read. */
#ifndef DORYGEN_COST_FIELDS_H
#define DORYGEN_COST_FIELDS_H

#include "dory/cost.h"

bool cost_field_is_known(const char *name, size_t length);

#endif
