/* JSON values for the reports. What is made here belongs to the caller's object as soon as it is set.
 * Running out of memory ends the process with a message, as it does in the arena. */
#ifndef DORYGEN_REPORT_VALUES_H
#define DORYGEN_REPORT_VALUES_H

#include <jansson.h>

#include "base/support.h"
#include "emit/print_struct.h"

json_t *value_object(void);
json_t *value_array(void);

void set_value(json_t *object, const char *key, json_t *value);
void set_number(json_t *object, const char *key, uint64_t number);
void set_index(json_t *object, const char *key, int index); /* negative: null */
void set_boolean(json_t *object, const char *key, bool truth);
void set_ratio(json_t *object, const char *key, uint64_t dividend, uint64_t divisor); /* null where the divisor is 0 */

/* Any bytes at all: what is not UTF-8 or is a control character becomes U+FFFD. */
void set_text(json_t *object, const char *key, const char *text);

/* All members of a struct of the firmware that are no structs themselves, by their names there: numbers, flags as true or
 * false, enumerators as words ("flash_read" for HAL_FLASH_READ). */
void set_members(json_t *object, const struct record *record, const void *value);

void append_value(json_t *array, json_t *value);
void append_number(json_t *array, uint64_t number);

/* The text, in the arena, ending in a line break; releases `value`. */
const char *value_print(json_t *value, bool compact, struct arena *arena);

#endif
