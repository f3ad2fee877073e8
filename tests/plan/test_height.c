/* The walk of docs/architecture.md with numbers of its own: the height of a layer's tiles is decided, and it is what NAME.c
 * says and what the DMA is told in a run, with the driver and from a table. */
#include <string.h>

#include "emit/emit.h"
#include "expect.h"
#include "networks.h"
#include "planning.h"
#include "run_plan.h"

enum { HEIGHT = 20, WIDTH = 12, CHANNELS = 8 };

/* ---- hop 9: what comes to the HAL, see CMakeLists.txt ---- */

static uint32_t heights[HEIGHT]; /* of what is stored */
static int stores;

int __real_hal_dma_copy(hal_dma_ticket ticket, const struct hal_dma_copy *copy);
int __wrap_hal_dma_copy(hal_dma_ticket ticket, const struct hal_dma_copy *copy);

int __wrap_hal_dma_copy(hal_dma_ticket ticket, const struct hal_dma_copy *copy)
{
    if (copy->direction == HAL_FROM_LOCAL && stores < HEIGHT)
        heights[stores++] = copy->runs;
    return __real_hal_dma_copy(ticket, copy);
}

static void expect_stores(uint32_t rows, const char *what)
{
    uint32_t left = HEIGHT;
    for (int i = 0; i < stores; left -= dory_minimum(left, heights[i++]))
        EXPECT(heights[i] == dory_minimum(rows, left), "%s: store %d has %u rows, of a tile of %u", what, i, heights[i],
               rows);
    EXPECT(left == 0, "%s: %u rows are not stored", what, left);
}

/* ---- hops 3 and 4: it is written down ---- */

static void decide(struct plan *plan, uint32_t rows)
{
    struct plan_layer *layer = &plan->layers[0];
    const struct dory_layer before = layer->record;
    const struct tile_problem problem = {.layer = &before,
                                         .weights = layer->engine->weights,
                                         .kernel = layer->kernel,
                                         .cores = plan->cores,
                                         .steps = &plan->steps[0].record,
                                         .step_count = 1};
    struct tiling tiling = {.tile = before.tile};
    tiling.tile.rows = (uint16_t)rows;
    plan->l1_peak_bytes = layer->l1_bytes = tile_apply(&problem, &tiling, &layer->record);
    layer->tile_count = dory_divide_up(HEIGHT, rows);
}

/* ---- hop 5: NAME.c ---- */

static void expect_text(const struct plan *plan, uint32_t rows, struct arena *arena)
{
    struct assembled assembled;
    struct outputs outputs = {0};
    const char *text = "", *tile = arena_format(arena, "{.rows = %u, .columns = %d,", rows, WIDTH);
    plan_assemble(plan, &assembled, arena);
    emit_network(&(struct emission){.name = "walk", .plan = plan, .assembled = &assembled}, &outputs, arena);
    for (int i = 0; i < outputs.count; i++)
        if (strcmp(outputs.list[i].name, "walk.c") == 0)
            text = arena_format(arena, "%.*s", (int)outputs.list[i].count, (const char *)outputs.list[i].bytes);
    EXPECT(strstr(text, tile), "walk.c has no '%s'", tile);
}

/* ---- hops 6 to 9: a run ---- */

static void expect_run(const struct plan *plan, uint32_t rows, struct arena *arena)
{
    const int64_t *pixels = arena_array(arena, int64_t, HEIGHT * WIDTH * CHANNELS);
    const char *what = plan->tiles ? "from a table" : "with the driver";
    stores = 0;
    struct run_plan_result result = run_plan(plan, &pixels, &(struct run_plan_options){.cores = 4, .unobserved = true});
    EXPECT(result.exact, "%s: %s", what, result.message);
    expect_stores(rows, what);
}

static bool make(struct plan *plan, struct arena *arena)
{
    struct diagnostics diagnostics = {.arena = arena};
    struct network_builder b;
    struct target target;
    const struct plan_options options = {.layouts = LAYOUTS_HWC};
    builder_start(&b, arena, 1);
    const struct network *network =
        builder_finish(&b, builder_convolution(&b, builder_input(&b, HEIGHT, WIDTH, CHANNELS), 3, 1, 1, CHANNELS));
    struct target *kept = target_load(&target, "gap8", arena, &diagnostics) ? arena_copy(arena, &target, 1) : NULL;
    return kept && plan_make(network, kept, &options, plan, arena, &diagnostics) &&
           layout_weights(plan, arena, &diagnostics);
}

int main(void)
{
    struct arena arena = {0};
    struct plan plan = {0};
    bool made = make(&plan, &arena);
    EXPECT(made && plan.step_count == 1 && plan.layers[0].record.tile.channels == CHANNELS, "a layer in one step");
    for (uint32_t rows = plan.layers[0].record.tile.rows; made && rows > 0; rows--) {
        decide(&plan, rows);
        plan.tiles = NULL;
        expect_text(&plan, rows, &arena);
        expect_run(&plan, rows, &arena);
        plan.tiles = plan_place_tiles(&plan, &arena);
        expect_run(&plan, rows, &arena);
    }
    arena_free(&arena);
    return expect_result("height");
}
