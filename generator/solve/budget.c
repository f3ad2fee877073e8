/* L2 holds a network's arena, its tables, the code that runs them, and the application. The code is measured by linking it,
 * the application's share is said by the user (command/memory_options.c), the tables are counted (plan/table_bytes.c); the
 * arena is what they leave. */
#include "solve/budget.h"

#include <inttypes.h>

#include "dory/hal.h"
#include "dory/prepared.h"
#include "plan/table_bytes.h"
#include "plan/views.h"

enum {
    FEW_TILES = 96,  /* of which planning takes no time */
    SOME_TILES = 16, /* with a table tiles take less, so that the fastest plan may have more of them */
    LEAST_GAIN = 20  /* a part of the run's time that the driver can take at most */
};

static uint32_t least_table_bytes(const struct network *network)
{
    return table_bytes_of_network(network) + (uint32_t)network->layer_count * (uint32_t)sizeof(struct dory_layer) +
           table_bytes_of_schedule(network->layer_count, network->layer_count);
}

static bool plan_beside_code(const struct network *network, const struct target *target, const struct plan_options *options,
                             struct plan *plan, struct arena *arena, struct diagnostics *diagnostics)
{
    struct plan_options beside_code = *options;
    if (options->l2_bytes)
        return plan_make(network, target, options, plan, arena, diagnostics);
    beside_code.l2_bytes = target->l2_bytes - options->l2_firmware_bytes;
    beside_code.tables_in_l2 = !target->constants_in_flash;
    uint32_t tables = target->constants_in_flash ? 0 : least_table_bytes(network);
    if (options->l2_firmware_bytes >= target->l2_bytes || tables + DORY_ALIGNMENT > beside_code.l2_bytes) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "does not fit L2: code and application take %" PRIu32
                 " bytes, the tables of layers, steps and transfers at "
                 "least about %" PRIu32 ", there are %" PRIu32,
                 options->l2_firmware_bytes, tables, target->l2_bytes);
        return false;
    }
    bool planned = plan_make(network, target, &beside_code, plan, arena, diagnostics);
    plan->l2_firmware_bytes = options->l2_firmware_bytes;
    return planned;
}

/* Of a plan without a table: how many tiles a table gets room for; 0 where it would not be worth the time to look for it,
 * for tiles are many and the driver is beside them. */
static uint64_t tiles_of_table(const struct target *target, const struct plan *plan)
{
    uint64_t tiles = plan_tile_count(plan), most = target->table_most_tiles, more = tiles + tiles / 2 + SOME_TILES;
    uint64_t driver = (uint64_t)plan->network->layer_count * (target->tile_driver_cycles + target->turn_driver_cycles);
    bool may_gain = tiles <= FEW_TILES || driver * LEAST_GAIN >= plan->predicted_cycles;
    return !may_gain || tiles > most ? 0 : more < most ? more : most;
}

/* With a table of at most so many tiles, and with as many as are then the fastest. False where there are more, or no room.
 */
static bool plan_with_table(const struct network *network, const struct target *target, const struct plan_options *options,
                            uint64_t most_tiles, struct plan *plan, struct arena *arena)
{
    struct diagnostics unheard = {.arena = arena};
    const struct target *quick = target_with_table(target, arena);
    struct plan_options beside = *options;
    beside.l2_firmware_bytes += options->l2_bytes ? 0 : (uint32_t)most_tiles * DORY_PREPARED_TILE_BYTES;
    if ((uint64_t)network->layer_count > most_tiles || !plan_beside_code(network, quick, &beside, plan, arena, &unheard) ||
        plan_tile_count(plan) > most_tiles)
        return false;
    plan->l2_firmware_bytes = options->l2_bytes ? 0 : options->l2_firmware_bytes;
    return true;
}

static void finish_tiles(struct plan *plan, struct arena *arena)
{
    plan_join_tiles(plan, arena);
    plan_await_together(plan, arena);
    plan_await_early(plan, arena);
    plan_bring_early(plan, true, arena);
}

/* With transfers joined, if that is no slower. */
static void finish_with_table(struct plan *plan, struct arena *arena)
{
    struct plan joined = *plan;
    bool joins = plan_merge_transfers(&joined, arena);
    finish_tiles(plan, arena);
    if (joins)
        finish_tiles(&joined, arena);
    if (joins && plan_meeting_cycles(&joined) <= plan_meeting_cycles(plan))
        *plan = joined;
    plan->tiles = plan_place_tiles(plan, arena);
}

/* Of linked weights, those that lie in a memory of their own are taken where they lie, by kernels that reach it. */
static const struct target *target_for(const struct target *target, const struct plan_options *options, struct arena *arena)
{
    if (options->weights != WEIGHTS_LINKED || target->weight_memory_bytes == 0)
        return target;
    struct target *reached = arena_array(arena, struct target, 1);
    *reached = *target;
    reached->weights_in_place = 1;
    return reached;
}

static bool plan_network(const struct network *network, const struct target *target, const struct plan_options *options,
                         struct plan *plan, struct arena *arena, struct diagnostics *diagnostics)
{
    struct plan with_table = {0};
    const struct diagnostics before = *diagnostics;
    bool planned = plan_beside_code(network, target, options, plan, arena, diagnostics);
    uint64_t tiles = planned ? tiles_of_table(target, plan) : target->table_most_tiles;
    bool has_table = plan_with_table(network, target, options, tiles, &with_table, arena);
    if (!planned && !has_table)
        return false;
    if (!planned)
        *diagnostics = before;
    if (planned) {
        plan_bring_early(plan, false, arena);
        plan_run_layers(plan);
        plan_overlap(plan, arena);
    }
    if (has_table)
        finish_with_table(&with_table, arena);
    if (has_table && (!planned || (with_table.tiles && with_table.predicted_cycles <= plan->predicted_cycles)))
        *plan = with_table;
    return true;
}

/* With views instead of copies, if that is faster: what is viewed has to stay in L2 for longer. `planned`: there is a plan.
 */
static bool plan_views(const struct network *viewed, const struct target *target, const struct plan_options *options,
                       bool planned, struct plan *plan, struct arena *arena)
{
    struct diagnostics unheard = {.arena = arena};
    struct plan_options own = *options;
    struct plan other = {0};
    own.memory = NULL; /* which is of the network as it is */
    if (!plan_network(viewed, target, &own, &other, arena, &unheard))
        return false;
    bool is_better = other.predicted_cycles < plan->predicted_cycles && other.moved.ram_bytes <= plan->moved.ram_bytes;
    if (!planned || is_better)
        *plan = other;
    return true;
}

bool budget_plan(const struct network *network, const struct target *machine, const struct plan_options *options,
                 struct plan *plan, struct arena *arena, struct diagnostics *diagnostics)
{
    const struct target *target = target_for(machine, options, arena);
    const struct diagnostics before = *diagnostics;
    bool planned = plan_network(network, target, options, plan, arena, diagnostics);
    int layers = network->layer_count;
    enum view_kinds end = target->activations_in_place ? VIEWS_OF_HEADS : VIEW_KINDS;
    for (enum view_kinds kinds = VIEWS_IN_A_ROW; kinds < end; kinds++) {
        const struct network *viewed = network_view(network, kinds, arena);
        if (!viewed || viewed->layer_count == layers)
            continue;
        layers = viewed->layer_count;
        if (plan_views(viewed, target, options, planned, plan, arena) && !planned) {
            *diagnostics = before;
            planned = true;
        }
    }
    return planned;
}
