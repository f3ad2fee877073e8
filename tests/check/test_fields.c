/* Changes every member of what a plan tells the firmware, one at a time: the check pass must notice.
 *
 * The lists of members are those by which the records are printed, so that a new member is tried as soon as it exists. */
#include <string.h>

#include "check/check.h"
#include "dory/prepared.h"
#include "emit/records.h"
#include "expect.h"
#include "networks.h"
#include "plan/plan.h"
#include "share.h"
#include "solve/plan_make.h"

#define MAXIMUM_MEMBERS 200
#define NAME_BYTES      60
#define PLACES          share_of(4) /* of each record that are tried, in each plan */

/* Of a layer, what its arithmetic is: describe's, whose tests compare it with the golden model. Others change time alone, or
 * what is not looked at without the member beside it. */
static const char *const arithmetic[] = {"layer.shift",
                                         "layer.left_shift",
                                         "layer.rounding",
                                         "layer.row_divisor",
                                         "layer.divisor",
                                         "layer.reciprocal",
                                         "layer.minimum",
                                         "layer.maximum",
                                         "layer.map_channels.run",
                                         "layer.second_input_is_signed",
                                         "layer.input_is_signed",
                                         "layer.output_is_signed",
                                         "layer.border_value",
                                         "layer.addend",
                                         "layer.multiplier",
                                         "layer.softmax.group_channels",
                                         "layer.norm.words"};
static const char *const harmless[] = {"layer.tile_order",
                                       "layer.pixel_ways",
                                       "layer.l1.accumulators",
                                       "layer.matrix_product.sharing_rows",
                                       "transfer.l3_stride",
                                       "transfer.l2_stride",
                                       "store.external_plane_stride",
                                       "store.local_plane_stride",
                                       "weights.external_plane_stride",
                                       "weights.external_run_stride",
                                       "weights.local_run_stride",
                                       "weights.local_plane_stride",
                                       "load.external_plane_stride",
                                       "load.local_plane_stride",
                                       "tile.second_input",
                                       "prepared.has_table"};

static struct member {
    char name[NAME_BYTES];
    int tried, noticed;
} members[MAXIMUM_MEMBERS];
static int member_count;

static struct member *member_of(const char *name)
{
    for (int i = 0; i < member_count; i++)
        if (!strcmp(members[i].name, name))
            return &members[i];
    EXPECT(member_count + 1 < MAXIMUM_MEMBERS && strlen(name) < NAME_BYTES, "no room for %s", name);
    struct member *member = &members[member_count];
    member_count += member_count + 1 < MAXIMUM_MEMBERS;
    memcpy(member->name, name, strlen(name) + 1);
    return member;
}

static bool is_listed(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(name, list[i]))
            return true;
    return false;
}

static void try_value(const struct plan *plan, const char *name, void *place, size_t bytes, uint64_t value)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct member *member = member_of(name);
    uint64_t kept = 0;
    memcpy(&kept, place, bytes);
    memcpy(place, &value, bytes);
    member->noticed += !plan_check(plan, &diagnostics);
    member->tried++;
    memcpy(place, &kept, bytes);
    arena_free(&arena);
}

static void change(const struct plan *plan, const char *name, void *place, size_t bytes, bool is_flag)
{
    uint64_t value = 0;
    memcpy(&value, place, bytes);
    try_value(plan, name, place, bytes, is_flag ? !value : value + 1);
    if (!is_flag && value >= 4)
        try_value(plan, name, place, bytes, value - 4);
}

static void change_record(const struct plan *plan, const char *of, const struct record *record, void *value)
{
    for (size_t i = 0; i < record->field_count; i++) {
        const struct field *field = &record->fields[i];
        bool is_live = !field->is_live || field->is_live(value);
        char name[NAME_BYTES];
        snprintf(name, sizeof name, "%s.%s", of, field->name);
        for (size_t element = 0; is_live && element < field->count; element++) {
            void *place = (char *)value + field->offset + element * field->bytes;
            if (field->kind == FIELD_STRUCT)
                change_record(plan, name, field->record, place);
            else
                change(plan, name, place, field->bytes, field->kind == FIELD_FLAG);
        }
    }
}

static void change_tile(const struct plan *plan, struct dory_prepared_tile *tile)
{
    change_record(plan, "tile", &record_tile, &tile->tile);
    change_record(plan, "prepared", &record_prepared_tile, tile);
    if (tile->stores != DORY_STORES_NOTHING)
        change_record(plan, "store", &record_copy, &tile->store);
    for (unsigned i = 0; i < tile->load_count; i++)
        change_record(plan, i < tile->load_weights ? "weights" : "load", &record_copy, &tile->loads[i]);
#define POINTER(MEMBER) change(plan, "tile." #MEMBER, &tile->tile.MEMBER, sizeof tile->tile.MEMBER, false)
    POINTER(input);
    POINTER(second_input);
    POINTER(weights);
    POINTER(output);
    POINTER(accumulators);
    POINTER(scratch);
#undef POINTER
}

/* The i-th of PLACES that are far from each other. */
static int place(uint32_t i, int count) { return (int)((uint32_t)count * i / PLACES); }

static void change_plan(const struct plan *plan)
{
    for (uint32_t i = 0; i < PLACES; i++) {
        change_record(plan, "layer", &record_layer, &plan->layers[place(i, plan->network->layer_count)].record);
        change_record(plan, "step", &record_step, &plan->steps[place(i, plan->step_count)].record);
        if (plan->transfer_count)
            change_record(plan, "transfer", &record_transfer, &plan->transfers[place(i, plan->transfer_count)].record);
        if (plan->tiles) /* this plan's own, which nobody else reads */
            change_tile(plan, (struct dory_prepared_tile *)(uintptr_t)&plan->tiles[place(i, (int)plan_tile_count(plan))]);
    }
}

/* Takes turns with layers, and planes between them; with a table of its tiles. */
static void test_plan(const struct network *network, uint32_t l2_bytes)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target;
    struct plan plan;
    struct plan_options options = {.l1_bytes = 8000, .l2_bytes = l2_bytes, .blocks = BLOCKS_ALWAYS, .layouts = LAYOUTS_CHW};
    EXPECT(target_load(&target, "host", &arena, &diagnostics), "host is built in");
    bool sound = plan_make(network, &target, &options, &plan, &arena, &diagnostics);
    if (sound) {
        plan_bring_early(&plan, true, &arena);
        plan.tiles = plan_place_tiles(&plan, &arena);
        EXPECT(plan.tiles != NULL, "a table of tiles");
    }
    sound = sound && plan_check(&plan, &diagnostics);
    EXPECT(sound, "%s", diagnostics.count ? diagnostics.list[0].text : "");
    if (sound)
        change_plan(&plan);
    arena_free(&arena);
}

int main(void)
{
    struct arena arena = {0};
    test_plan(mobilenet_v1(&arena, 32, 25), 60000);
    test_plan(residual_network(&arena, 16, 16), 16000);
    test_plan(attention_network(&arena, 3, 13, 10), 60000);
    for (int i = 0; i < member_count; i++) {
        const struct member *member = &members[i];
        bool is_exempt = is_listed(member->name, arithmetic, sizeof arithmetic / sizeof *arithmetic) ||
                         is_listed(member->name, harmless, sizeof harmless / sizeof *harmless);
        /* A share of the places is for sanitizers. */
        EXPECT(member->noticed > 0 || is_exempt || !share_is_all(), "%s: of %d changes none is noticed", member->name,
               member->tried);
    }
    arena_free(&arena);
    return expect_result("fields");
}
