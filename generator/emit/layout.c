/* Pass `layout`: the flash image, with the weights as the formats of their engines write them (dory/engine.h).
 *
 * A blob that does not come out with exactly the bytes that the plan counted is a fault of dory and is reported as one,
 * since the firmware would read past it. */
#include "emit/assemble.h"

#include <string.h>

#include "base/arithmetic.h"

/* ---- bytes, little endian ---- */

static void write_word(uint8_t *to, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

/* ---- blob and image ---- */

static bool lies_in_image(const struct plan *plan, uint32_t address, uint32_t bytes)
{
    return address >= FLASH_HEADER_BYTES && address <= plan->flash_bytes && bytes <= plan->flash_bytes - address;
}

static void layout_layer(struct plan *plan, int index, struct diagnostics *diagnostics)
{
    const struct plan_layer *planned = &plan->layers[index];
    const struct layer *layer = &plan->network->layers[index];
    if (planned->weights_bytes == 0)
        return;
    bool is_own = plan_has_own_blob(plan, index);
    uint32_t address = is_own ? planned->weights_address : planned->constants_address;
    if (!lies_in_image(plan, address, is_own ? planned->weights_bytes : plan_all_constants_bytes(planned))) {
        diagnose(diagnostics, SEVERITY_ERROR, layer->name, NULL,
                 "a fault of dory: weights planned outside of the flash image");
        return;
    }
    uint8_t *to = plan->flash_image + address;
    if (is_own ? !plan_write_blob(plan, index, to) : !plan_write_constants(plan, index, to))
        diagnose(diagnostics, SEVERITY_ERROR, layer->name, NULL,
                 "a fault of dory: weights take other than the %u bytes planned, or their constants exceed their form",
                 planned->weights_bytes);
}

uint32_t layout_hash(const uint8_t *bytes, size_t count)
{
    uint32_t hash = DORY_FLASH_HASH_START;
    size_t words = count / 4;
    uint8_t rest[4] = {0};
    for (size_t i = 0; i < words; i++)
        hash = dory_flash_hash_step(hash, little_endian_word(bytes + 4 * i));
    memcpy(rest, bytes + 4 * words, count % 4);
    return count % 4 ? dory_flash_hash_step(hash, little_endian_word(rest)) : hash;
}

static void write_header(struct plan *plan)
{
    uint32_t hash = layout_hash(plan->flash_image + FLASH_HEADER_BYTES, plan->flash_bytes - FLASH_HEADER_BYTES);
    memcpy(plan->flash_image, "DORY", 4);
    write_word(plan->flash_image + 4, DORY_FLASH_VERSION);
    write_word(plan->flash_image + 8, plan->flash_bytes);
    write_word(plan->flash_image + 12, hash);
}

bool layout_weights(struct plan *plan, struct arena *arena, struct diagnostics *diagnostics)
{
    int errors = diagnostics->error_count;
    if (plan->flash_bytes < FLASH_HEADER_BYTES)
        plan->flash_bytes = FLASH_HEADER_BYTES;
    plan->flash_image = arena_allocate(arena, plan->flash_bytes);
    for (int i = 0; i < plan->network->layer_count; i++)
        layout_layer(plan, i, diagnostics);
    write_header(plan);
    return diagnostics->error_count == errors;
}
