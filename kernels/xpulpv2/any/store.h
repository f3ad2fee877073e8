/* Elements of a block, of any bits, to where they belong. */
#ifndef DORY_XPULPV2_STORE_H
#define DORY_XPULPV2_STORE_H

#include "../product.h"

/* Up to 4 pixels from output pixel `index` on, in the order [pixel][lane], of a quad of channels. */
void dory_store_any(const struct dory_product *product, const int32_t element[16], uint32_t index, uint32_t pixels,
                    uint32_t quad);

#endif
