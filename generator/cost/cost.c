#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cost/describe_cost.h"
#include "cost/memo.h"
#include "dory/hal.h"
#include "tile/tile.h"

struct dory_cost_model {
    struct arena arena;
    struct target target; /* is not changed once it has been read */
    const struct target *with_table;
    uint32_t l1_bytes; /* of the arena */
    struct cost_memo *memo;
};

/* ---- a model ---- */

static void say(const struct diagnostics *diagnostics, char *message, size_t bytes)
{
    const struct diagnostic *first = diagnostics->count ? &diagnostics->list[0] : NULL;
    if (first && bytes)
        snprintf(message, bytes, "%s%s%s", first->attribute ? first->attribute : "", first->attribute ? ": " : "",
                 first->text);
}

struct dory_cost_model *dory_cost_open(const char *target, char *message, size_t message_bytes)
{
    struct dory_cost_model *model = calloc(1, sizeof *model);
    struct diagnostics diagnostics = {0};
    if (!model || !(model->memo = cost_memo_make())) {
        snprintf(message, message_bytes, "no memory");
        free(model);
        return NULL;
    }
    diagnostics.arena = &model->arena;
    if (!target_load(&model->target, target, &model->arena, &diagnostics)) {
        say(&diagnostics, message, message_bytes);
        dory_cost_close(model);
        return NULL;
    }
    model->with_table = target_with_table(&model->target, &model->arena);
    model->l1_bytes = (model->target.l1_bytes - model->target.l1_stack_bytes) / DORY_ALIGNMENT * DORY_ALIGNMENT;
    return model;
}

void dory_cost_close(struct dory_cost_model *model)
{
    if (!model)
        return;
    cost_memo_free(model->memo);
    arena_free(&model->arena);
    free(model);
}

/* ---- a layer ---- */

/* The best way to compute a layer; kernel null: none was found. */
struct choice {
    const struct dory_kernel_description *kernel;
    const struct dory_weights_format *weights; /* of its engine */
    struct tiling tiling;
    struct tile_cost cost;
};

/* What a kernel takes, which is the same with and without a table of tiles. */
struct known_cycles {
    const struct dory_kernel_description *kernel;
    struct cycle_table *cycles;
    struct known_cycles *next;
};

struct question {
    const struct dory_cost_model *model;
    const struct target *target;               /* the model's, or with a table */
    const struct dory_weights_format *weights; /* of the engine that is asked */
    enum dory_cost_mode mode;
    struct costed_layer layer;
    struct dory_step step; /* the whole layer, all operands in L2 */
    struct arena arena;
    struct known_cycles *known; /* in the arena */
    struct choice best;
    uint32_t least_l1_bytes; /* of all kernels that support it */
};

static struct dory_step whole_step(const struct dory_layer *record)
{
    struct dory_step step = {
        .rows = record->output_height, .channels = record->output_channels, .drain = 1, .last_of_layer = 1};
    for (unsigned i = 0; i < (dory_has_second_input(record) ? 2u : 1u); i++)
        step.input[i] =
            (struct dory_window){.rows = record->input_height, .channels = (uint16_t)dory_input_channels(record, i)};
    step.output = (struct dory_window){.rows = record->output_height, .channels = record->output_channels};
    return step;
}

static struct cycle_table *cycles_of(struct question *q, const struct dory_kernel_description *kernel)
{
    for (const struct known_cycles *known = q->known; known; known = known->next)
        if (known->kernel == kernel)
            return known->cycles;
    const struct target *target = &q->model->target;
    struct known_cycles *made = arena_allocate(&q->arena, sizeof *made);
    *made = (struct known_cycles){kernel, cycle_table_make(&q->layer.record, kernel, target, target->cores, &q->arena),
                                  q->known};
    q->known = made;
    return made->cycles;
}

static struct tile_problem problem_of(struct question *q, const struct dory_kernel_description *kernel)
{
    return (struct tile_problem){.layer = &q->layer.record,
                                 .weights = q->weights,
                                 .kernel = kernel,
                                 .target = q->target,
                                 .cores = q->target->cores,
                                 .l1_bytes = q->model->l1_bytes,
                                 .cycles = cycles_of(q, kernel),
                                 .steps = &q->step,
                                 .step_count = 1};
}

static void try_kernel(struct question *q, const struct dory_kernel_description *kernel)
{
    struct tile_problem problem = problem_of(q, kernel);
    struct tiling tiling, searched;
    struct tile_cost cost, searched_cost;
    q->least_l1_bytes = dory_minimum(q->least_l1_bytes, tile_least_l1_bytes(&problem));
    if (!tile_estimate(&problem, &tiling, &cost))
        return;
    tile_simulate(&problem, &tiling, &cost, NULL);
    uint64_t limit = q->best.cost.cycles <= cost.cycles ? q->best.cost.cycles : cost.cycles + 1;
    if (q->mode == DORY_COST_EXACT && tile_search(&problem, limit, &searched, &searched_cost)) {
        tiling = searched;
        cost = searched_cost;
    }
    if (cost.cycles >= q->best.cost.cycles)
        return;
    q->best.kernel = kernel;
    q->best.weights = q->weights;
    q->best.tiling = tiling;
    q->best.cost = cost;
}

static int try_kernels(struct question *q, const struct dory_engine *engine)
{
    int count = 0;
    q->weights = engine->weights;
    dory_set_format(&q->layer.record, engine->weights);
    for (const struct dory_kernel_description *const *kernels = engine->kernels; *kernels; kernels++) {
        if (!dory_kernel_supports(*kernels, &q->layer.record))
            continue;
        try_kernel(q, *kernels);
        count++;
    }
    return count;
}

/* For a target, in fewer cycles than `limit`. Tiles are searched for before a plan is decided; then it counts anew what the
 * driver does for them. Returns how many kernels support the layer. */
static int find_best(struct question *q, const struct target *target, uint64_t limit)
{
    q->target = target;
    q->best = (struct choice){.cost = {.cycles = limit}};
    int kernels = 0;
    for (const struct dory_engine *const *engine = target->engines; *engine && kernels == 0; engine++)
        kernels = try_kernels(q, *engine);
    if (q->best.kernel) {
        struct tile_problem problem = problem_of(q, q->best.kernel);
        problem.is_decided = true;
        tile_simulate(&problem, &q->best.tiling, &q->best.cost, NULL);
    }
    return kernels;
}

/* As plans are chosen: with a table where that is no slower and has not too many tiles. */
static int find_best_of_both(struct question *q)
{
    const struct dory_cost_model *model = q->model;
    int kernels = find_best(q, &model->target, UINT64_MAX);
    struct choice without = q->best;
    uint64_t most = model->target.table_most_tiles;
    if (!without.kernel || without.cost.tile_count > 2 * most)
        return kernels;
    find_best(q, model->with_table, without.cost.cycles + 1);
    if (!q->best.kernel || q->best.cost.tile_count > most)
        q->best = without;
    return kernels;
}

static void write_answer(const struct question *q, struct dory_cost *cost)
{
    const struct dory_layer *record = &q->layer.record;
    const struct dory_tile_shape *shape = &q->best.tiling.tile;
    uint32_t input_channels = dory_reads_all_channels(record) ? shape->input_channels : record->input_channels;
    uint32_t weights_bytes =
        dory_blocks(record, record->output_channels) * dory_block_bytes(q->best.weights, record, input_channels);
    cost->cycles = q->best.cost.cycles;
    cost->kernel_cycles = q->best.cost.kernel_cycles;
    cost->l3_cycles = weights_bytes ? target_l3_cycles(&q->model->target, 1, weights_bytes) : 0;
    cost->macs = q->layer.macs;
    cost->l3_bytes = weights_bytes;
    cost->l2_bytes = q->best.cost.dma_bytes;
    cost->l1_bytes = q->best.cost.l1_bytes;
    cost->tile_rows = shape->rows;
    cost->tile_columns = shape->columns;
    cost->tile_channels = shape->channels;
    cost->tile_input_channels = shape->input_channels;
    cost->tile_count = q->best.cost.tile_count;
    snprintf(cost->kernel, sizeof cost->kernel, "%s", q->best.kernel->name);
}

static bool answer(const struct dory_cost_model *model, const struct dory_cost_layer *layer, enum dory_cost_mode mode,
                   struct dory_cost *cost)
{
    struct question q = {.model = model, .mode = mode, .least_l1_bytes = UINT32_MAX};
    if (!describe_cost(layer, &q.layer, cost->reason))
        return false;
    q.step = whole_step(&q.layer.record);
    int kernels = layer->tile_table == DORY_COST_TILE_TABLE_AUTO ? find_best_of_both(&q)
                  : layer->tile_table == DORY_COST_TILE_TABLE_NO ? find_best(&q, &model->target, UINT64_MAX)
                                                                 : find_best(&q, model->with_table, UINT64_MAX);
    arena_free(&q.arena);
    if (q.best.kernel)
        write_answer(&q, cost);
    else if (kernels == 0)
        snprintf(cost->reason, sizeof cost->reason, "no kernel computes such a layer");
    else
        snprintf(cost->reason, sizeof cost->reason, "its smallest tile needs %" PRIu32 " bytes of L1, there are %" PRIu32,
                 q.least_l1_bytes, model->l1_bytes);
    return q.best.kernel != NULL;
}

bool dory_cost_of(struct dory_cost_model *model, const struct dory_cost_layer *layer, enum dory_cost_mode mode,
                  struct dory_cost *cost)
{
    struct cost_key key = {*layer, (uint32_t)mode};
    struct cost_answer found = {0};
    if (!cost_memo_find(model->memo, &key, &found)) {
        found.runs = answer(model, layer, mode, &found.cost);
        cost_memo_add(model->memo, &key, &found);
    }
    *cost = found.cost;
    return found.runs;
}
