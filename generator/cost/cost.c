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
    uint32_t l1_bytes;    /* of the arena */
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

struct question {
    const struct dory_cost_model *model;
    enum dory_cost_mode mode;
    struct costed_layer layer;
    struct dory_step step; /* the whole layer, all operands in L2 */
    struct arena arena;
    struct tiling tiling;
    struct tile_cost best;
    const struct dory_kernel_description *kernel; /* null: none found */
    uint32_t least_l1_bytes;                      /* of all kernels that support it */
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

static void try_kernel(struct question *q, const struct dory_kernel_description *kernel)
{
    const struct dory_cost_model *model = q->model;
    struct tile_problem problem = {.layer = &q->layer.record,
                                   .kernel = kernel,
                                   .target = &model->target,
                                   .cores = model->target.cores,
                                   .l1_bytes = model->l1_bytes,
                                   .steps = &q->step,
                                   .step_count = 1};
    struct tiling tiling, searched;
    struct tile_cost cost, searched_cost;
    problem.cycles = cycle_table_make(problem.layer, kernel, problem.target, problem.cores, &q->arena);
    q->least_l1_bytes = dory_minimum(q->least_l1_bytes, tile_least_l1_bytes(&problem));
    if (!tile_estimate(&problem, &tiling, &cost))
        return;
    tile_simulate(&problem, &tiling, &cost, NULL);
    uint64_t limit = q->kernel && q->best.cycles <= cost.cycles ? q->best.cycles : cost.cycles + 1;
    if (q->mode == DORY_COST_EXACT && tile_search(&problem, limit, &searched, &searched_cost)) {
        tiling = searched;
        cost = searched_cost;
    }
    if (q->kernel && cost.cycles >= q->best.cycles)
        return;
    q->kernel = kernel;
    q->tiling = tiling;
    q->best = cost;
}

static int try_kernels(struct question *q, const struct dory_kernel_description *const *kernels)
{
    int count = 0;
    for (; *kernels; kernels++) {
        if (!dory_kernel_supports(*kernels, &q->layer.record))
            continue;
        try_kernel(q, *kernels);
        count++;
    }
    return count;
}

static void write_answer(const struct question *q, struct dory_cost *cost)
{
    const struct dory_layer *record = &q->layer.record;
    const struct dory_tile_shape *shape = &q->tiling.shape;
    uint32_t input_channels = dory_reads_all_channels(record) ? shape->input_channels : record->input_channels;
    uint32_t weights_bytes = dory_divide_up(record->output_channels, 4) * tile_quad_bytes(record, input_channels);
    cost->cycles = q->best.cycles;
    cost->kernel_cycles = q->best.kernel_cycles;
    cost->l3_cycles = weights_bytes ? target_l3_cycles(&q->model->target, 1, weights_bytes) : 0;
    cost->macs = q->layer.macs;
    cost->l3_bytes = weights_bytes;
    cost->l2_bytes = q->best.dma_bytes;
    cost->l1_bytes = q->best.l1_bytes;
    cost->tile_rows = shape->rows;
    cost->tile_columns = shape->columns;
    cost->tile_channels = shape->channels;
    cost->tile_input_channels = shape->input_channels;
    cost->tile_count = q->best.tile_count;
    snprintf(cost->kernel, sizeof cost->kernel, "%s", q->kernel->name);
}

static bool answer(const struct dory_cost_model *model, const struct dory_cost_layer *layer, enum dory_cost_mode mode,
                   struct dory_cost *cost)
{
    struct question q = {.model = model, .mode = mode, .least_l1_bytes = UINT32_MAX};
    if (!describe_cost(layer, &q.layer, cost->reason))
        return false;
    q.step = whole_step(&q.layer.record);
    int kernels = model->target.uses_xpulpv2 ? try_kernels(&q, dory_xpulpv2_kernels) : 0;
    if (kernels == 0)
        kernels = try_kernels(&q, dory_reference_kernels);
    arena_free(&q.arena);
    if (q.kernel)
        write_answer(&q, cost);
    else if (kernels == 0)
        snprintf(cost->reason, sizeof cost->reason, "no kernel computes such a layer");
    else
        snprintf(cost->reason, sizeof cost->reason, "its smallest tile needs %" PRIu32 " bytes of L1, there are %" PRIu32,
                 q.least_l1_bytes, model->l1_bytes);
    return q.kernel != NULL;
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
