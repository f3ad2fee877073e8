/* The table of placed tiles, where a plan has one. */
#include "emit/emit_tiles.h"

#include <inttypes.h>

#include "dory/prepared.h"
#include "emit/records.h"

static void add_pointer(struct text *text, const char *member, const void *offset)
{
    if (offset)
        text_add(text, " .%s = (void *)(uintptr_t)%" PRIu32 "u,", member, (uint32_t)(uintptr_t)offset);
}

static void add_copy(struct text *text, const char *member, const struct dory_prepared_copy *copy)
{
    text_add(text, "\n        .%s = {", member);
    print_members(text, &record_copy, copy, 12);
    text_add_string(text, "},");
}

static void add_tile(struct text *text, const struct dory_prepared_tile *prepared)
{
    static const char *const loads[] = {"loads[0]", "loads[1]", "loads[2]"};
    const struct dory_tile *tile = &prepared->tile;
    text_add_string(text, "    {.tile = {");
    add_pointer(text, "input", tile->input);
    add_pointer(text, "second_input", tile->second_input);
    add_pointer(text, "weights", tile->weights);
    add_pointer(text, "output", tile->output);
    add_pointer(text, "accumulators", tile->accumulators);
    add_pointer(text, "scratch", tile->scratch);
    print_members(text, &record_tile, tile, 12);
    text_add_string(text, "},");
    print_members(text, &record_prepared_tile, prepared, 8);
    if (prepared->stores)
        add_copy(text, "store", &prepared->store);
    for (unsigned i = 0; i < prepared->load_count; i++)
        add_copy(text, loads[i], &prepared->loads[i]);
    text_add_string(text, "},\n");
}

void emit_tiles(struct text *text, const struct plan *plan)
{
    if (!plan->tiles)
        return;
    text_add_string(text, "/* Tiles, and where they and their copies lie: offsets in the arenas. */\n"
                          "static const struct dory_prepared_tile tiles[] = {\n");
    for (uint32_t i = 0; i < plan_tile_count(plan); i++)
        add_tile(text, &plan->tiles[i]);
    text_add_string(text, "};\n\n");
}
