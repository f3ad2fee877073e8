/* How a tile becomes jobs: where it has more than the generator has prepared, by the first core. */
#include "neureka.h"

/* What all jobs of a tile have in common. */
static void set_job(const struct dory_layer *layer, const struct dory_tile *tile, struct dory_neureka_description *to)
{
    struct dory_neureka_job *job = &to->job;
    uint32_t channels = tile->input_channels, step = to->jobs.step;
    uint32_t row_bytes = layer->stride_height / step * tile->input_columns * channels;
    bool requantises = to->common.requantises, is_wide = to->common.may_be_wide, gathers = dory_neureka_gathers(layer);
    job->mode = (uint8_t)dory_neureka_mode_of(layer);
    job->output_kind = requantises ? DORY_NEUREKA_BYTES : is_wide ? DORY_NEUREKA_WIDE : DORY_NEUREKA_SUMS;
    job->weight_bits = layer->weight_bits;
    job->shift = requantises ? layer->shift : is_wide ? DORY_NEUREKA_WIDE_SHIFT : 0;
    job->input_is_signed = layer->input_is_signed;
    job->output_is_signed = requantises && layer->output_is_signed;
    job->weights_in_memory = dory_is_in_place(layer->l1.weights);
    job->input_channels = (uint16_t)channels;
    job->input_pixel_bytes = layer->stride_width / step * channels;
    if (gathers) {
        job->input_channels = (uint16_t)dory_neureka_input_channels(layer);
        job->input_pixel_bytes = dory_round_up(job->input_channels, 4);
    }
    bool is_close = gathers || to->jobs.is_flat; /* rows follow one another */
    job->input_row_bytes = is_close ? to->jobs.columns * job->input_pixel_bytes : row_bytes;
}

/* Where the parts of scratch lie, one behind the other. */
static void lay_scratch(const struct dory_layer *layer, const struct dory_tile *tile, struct dory_neureka_description *to)
{
    uint32_t behind = DORY_NEUREKA_QUEUE_BYTES;
    to->constants = to->weight_bytes;
    to->constants_step = to->block_bytes;
    to->input = 0;
    if (to->job.weights_in_memory) {
        to->constants = behind;
        to->constants_step = to->block_bytes - to->weight_bytes;
        behind += to->jobs.blocks * to->constants_step;
    }
    if (dory_neureka_gathers(layer)) {
        to->input = behind;
        behind += tile->rows * tile->columns * to->job.input_pixel_bytes;
    }
    to->sums = behind;
}

static void set_common(const struct dory_layer *layer, const struct dory_neureka_jobs *jobs, struct dory_neureka_common *to)
{
    to->records.first_record = dory_neureka_first_record(layer);
    to->records.first_kind = dory_neureka_first_kind(layer);
    to->records.record_bytes = dory_neureka_record_bytes(layer);
    to->block_channels = jobs->block_channels;
    to->jobs = (uint16_t)(jobs->parts * jobs->bands);
    to->step = (uint8_t)jobs->step;
    to->element_bytes = layer->output_bits / 8;
    to->by_cores = jobs->by_cores;
    to->may_be_wide = dory_neureka_may_be_wide(layer);
    to->requantises = dory_neureka_requantises(layer);
}

void dory_neureka_describe(const struct dory_layer *layer, const struct dory_tile *tile, struct dory_neureka_description *to)
{
    dory_neureka_set_jobs(&to->jobs, layer, tile->rows, tile->columns, tile->channels);
    set_common(layer, &to->jobs, &to->common);
    to->block_bytes = layer->block_bytes;
    to->weight_bytes = layer->chunk_bytes;
    to->tile_channels = tile->channels;
    to->pitch = to->jobs.columns + layer->rows.output_gap;
    to->left_bytes = to->common.requantises ? 1 : 4;
    to->pixels = tile->rows * to->jobs.step * dory_neureka_stepped(to->jobs.columns, to->jobs.step);
    set_job(layer, tile, to);
    lay_scratch(layer, tile, to);
}

/* Channels, rows and columns; the last band may be what is left of rows of six. */
void dory_neureka_set_part(const struct dory_neureka_description *of, uint32_t index, struct dory_neureka_part *part)
{
    const struct dory_neureka_jobs *jobs = &of->jobs;
    uint32_t part_index = index / jobs->bands, band = index % jobs->bands;
    uint32_t block = part_index / jobs->parts_per_block, in_block = part_index % jobs->parts_per_block * jobs->part_channels;
    uint32_t first_row = band > 0 ? jobs->first_rows + (band - 1) * jobs->band_rows : 0,
             first = block * jobs->block_channels + in_block;
    bool is_rest = jobs->rest > 0 && band == jobs->bands - 1;
    first_row = is_rest ? jobs->rows : first_row;
    uint32_t channels =
        dory_minimum(jobs->part_channels, dory_minimum(jobs->block_channels - in_block, of->tile_channels - first));
    uint32_t first_left = first_row * jobs->step * dory_neureka_stepped(jobs->columns, jobs->step);
    part->rows =
        (uint16_t)(is_rest ? 1 : dory_minimum(band > 0 ? jobs->band_rows : jobs->first_rows, jobs->rows - first_row));
    part->columns = (uint16_t)(is_rest ? jobs->rest : jobs->columns);
    part->channels = (uint16_t)channels;
    part->first = (uint16_t)in_block;
    part->input = of->input + first_row * jobs->step * of->job.input_row_bytes;
    part->weights = block * of->block_bytes + in_block * of->weight_bytes / jobs->block_channels;
    part->constants = of->constants + block * of->constants_step;
    part->sums = of->sums + of->left_bytes * (of->pixels * first + first_left * channels);
    part->output = (first_row * of->pitch * of->tile_channels + first) * of->common.element_bytes;
}

struct dory_neureka_registers dory_neureka_registers_of_part(const struct dory_neureka_description *of,
                                                             const struct dory_neureka_part *part)
{
    struct dory_neureka_job job = of->job;
    job.rows = (uint16_t)dory_neureka_stepped(part->rows, of->jobs.step);
    job.columns = (uint16_t)dory_neureka_stepped(part->columns, of->jobs.step);
    job.channels = part->channels;
    job.output_pixel_bytes = of->common.by_cores ? of->left_bytes * part->channels : of->tile_channels;
    job.output_row_bytes = (of->common.by_cores ? job.columns : of->pitch) * job.output_pixel_bytes;
    return dory_neureka_registers_of(&job);
}
