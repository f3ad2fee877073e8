/* What the applications of this folder share: start and end, data in flash, the class with the largest logit. */
#ifndef APP_H
#define APP_H

#include <stdint.h>

/* The body of main: opens L3 and the cluster with all its cores, calls RUN, closes them again. A status other than DORY_OK,
 * of RUN or of a step of its own, is printed. Returns main's exit status. */
int app_main(int (*run)(void));

/* Reads BYTES, a multiple of HAL_L3_ALIGNMENT, from OFFSET behind SYMBOL, which dory_add_flash_data made, to L2 and waits.
 * Returns DORY_OK or the status of the transfer. */
int app_read_flash(const uint8_t *symbol, uint32_t offset, void *l2, uint32_t bytes);

/* The index of the largest of COUNT logits; the first of equal ones. */
unsigned app_best_class(const int32_t *logits, unsigned count);

#endif
