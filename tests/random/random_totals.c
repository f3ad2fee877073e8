/* What random cases have covered. */
#include "random_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dead_channels.h"
#include "network/network.h"
#include "plan/plan.h"
#include "run_plan.h"

bool random_has_block(const struct plan *plan)
{
    for (int i = 0; i < plan->network->layer_count; i++)
        if (plan->layers[i].block >= 0)
            return true;
    return false;
}

/* A product whose rows are a head's queries. */
static bool has_queries(const struct plan *plan)
{
    for (int i = 0; i < plan->network->layer_count; i++)
        if (plan->layers[i].record.operation == DORY_MATRIX_PRODUCT && plan->layers[i].record.matrix_product.sharing_rows)
            return true;
    return false;
}

static void count_layer(struct random_totals *totals, const struct plan *plan, const struct plan_layer *layer)
{
    const struct dory_layer *record = &layer->record;
    const struct dory_step *step = &plan->steps[layer->first_step].record;
    totals->xpulpv2 += !strncmp(layer->kernel->name, "dory_xpulpv2", 12);
    totals->layers_of_engine += layer->engine == totals->engine;
    totals->inputs_in_place += dory_is_in_place(record->l1.input);
    totals->weights_in_place += dory_is_in_place(record->l1.weights);
    totals->outputs_in_place += dory_is_in_place(record->l1.output);
    totals->tiled_rows += record->tile.rows < step->rows;
    totals->tiled_columns += record->tile.columns < record->output_width;
    totals->tiled_channels += record->tile.channels < step->channels;
    totals->tiled_input_channels +=
        record->operation == DORY_CONVOLUTION && record->tile.input_channels < record->input_channels;
    totals->stepped_rows += step->rows < record->output_height;
    totals->stepped_channels += step->channels < record->output_channels;
}

/* An output that lies where an input does. */
static bool has_overlap(const struct plan *plan)
{
    bool overlap = false;
    for (int i = 0; i < plan->step_count; i++) {
        const struct plan_buffer *input = &plan->buffers[plan->steps[i].input_buffer[0]],
                                 *output = &plan->buffers[plan->steps[i].output_buffer];
        overlap |= plan->runs_layers && input->offset < output->offset + output->bytes &&
                   output->offset < input->offset + input->bytes;
    }
    return overlap;
}

static bool has_sharing(const struct plan *plan)
{
    bool has = false;
    for (int i = 0; i < plan->network->layer_count; i++)
        has |= plan->layers[i].shares_weights && !plan_has_own_blob(plan, i);
    return has;
}

/* From which cores take tiles whose weights are in place. */
static bool has_table_in_place(const struct plan *plan)
{
    bool has = false;
    for (int i = 0; i < plan->network->layer_count; i++)
        has |= plan->tiles && dory_is_in_place(plan->layers[i].record.l1.weights);
    return has;
}

static void count_plan(struct random_totals *totals, const struct plan *plan)
{
    bool in_ram = false, loads = false, in_chw = false;
    for (int i = 0; i < plan->network->layer_count; i++) {
        count_layer(totals, plan, &plan->layers[i]);
        totals->gaps += dory_output_gap(&plan->layers[i].record) > 0;
        totals->left += plan->layers[i].is_left_in_l1;
        totals->early_inputs += plan->layers[i].inputs_are_early;
    }
    for (int i = 0; i < plan->network->tensor_count; i++)
        in_chw |= plan->tensors[i].layout == DORY_CHW;
    for (int i = 0; i < plan->network->tensor_count; i++)
        in_ram |= plan->tensors[i].level == IN_RAM;
    for (int i = 0; i < plan->transfer_count; i++)
        loads |= plan->transfers[i].needed_step > 0;
    count_wide_channels(plan, totals);
    count_added(plan, totals);
    totals->in_ram += in_ram;
    totals->sharing += has_sharing(plan);
    totals->blocks += random_has_block(plan);
    totals->queries += has_queries(plan);
    totals->resident += plan->resident_bytes > 0;
    totals->linked += plan->weights_are_linked;
    totals->run_layers += plan->runs_layers;
    totals->overlap += has_overlap(plan);
    totals->tables_in_place += has_table_in_place(plan);
    totals->in_chw += in_chw;
    totals->loads += loads;
}

void random_totals_add(struct random_totals *totals, const struct plan *plan, const struct network *network, uint64_t values)
{
    count_plan(totals, plan);
    totals->values += values;
    totals->shrunk += network->whole != NULL;
    totals->dead_channels += dead_channel_count(network);
    totals->unread_pixels += unread_pixel_count(network);
}

void random_totals_print(const struct random_totals *totals)
{
    printf("%d exact (%" PRIu64 " values), %d refused, %d wrong, %d passed over\n", totals->exact, totals->values,
           totals->refused, totals->wrong, totals->passed_over);
    printf(
        "layers tiled in rows %d, columns %d, channels %d, input channels %d; of several steps in rows %d, in channels %d\n",
        totals->tiled_rows, totals->tiled_columns, totals->tiled_channels, totals->tiled_input_channels,
        totals->stepped_rows, totals->stepped_channels);
    if (totals->inputs_in_place > 0)
        printf("layers with inputs in place %d, with weights %d, with outputs %d; networks of which nothing is copied %d, "
               "with outputs over inputs %d, with a table of tiles %d\n",
               totals->inputs_in_place, totals->weights_in_place, totals->outputs_in_place, totals->run_layers,
               totals->overlap, totals->tables_in_place);
    if (totals->wide_channels > 0)
        printf("channels in the form WIDE %d, of such layers in their own %d\n", totals->wide_channels,
               totals->channels_of_sums);
    if (totals->left > 0)
        printf("layers that leave their output in L1 alone %d, with gaps for the border of the next %d; whose inputs come "
               "early %d\n",
               totals->left, totals->gaps, totals->early_inputs);
    if (totals->added > 0)
        printf("additions that the kernel of the layer before makes %d; of such plans made wrong, refused ones %d\n",
               totals->added, totals->refused_additions);
    if (totals->dead)
        printf("networks without their dead channels %d, which were %d, and %d unread pixels; with early slices %d\n",
               totals->shrunk, totals->dead_channels, totals->unread_pixels, totals->moved);
    printf(
        "layers by XpulpV2 kernels %d; networks with views %d, which are %d; with tensors in RAM %d, in CHW %d, with L3 "
        "transfers behind the first step "
        "%d, with weights that stay in L2 %d, that are linked %d, that several layers share %d, with blocks of layers %d, "
        "of a head's queries %d\n",
        totals->xpulpv2, totals->viewed, totals->views, totals->in_ram, totals->in_chw, totals->loads, totals->resident,
        totals->linked, totals->sharing, totals->blocks, totals->queries);
}
