#include "choose/form.h"

/* An engine on so many cores, as requantise() asks it. */
struct asked {
    const struct dory_engine *engine;
    unsigned cores;
};

static uint64_t ask_cycles(const void *context, const struct dory_layer *layer)
{
    const struct asked *asked = context;
    return dory_engine_cycles(asked->engine, layer, asked->cores);
}

/* Of a layer without weights, with the form's constants. */
static const struct dory_stages *stages_of(const struct described_layer *described, const struct requantisation *form,
                                           struct arena *arena)
{
    struct dory_stages *stages = arena_array(arena, struct dory_stages, 1);
    *stages = *described->record.stages;
    requantisation_describe_stages(form, stages);
    return stages;
}

static bool has_negative_factor(const struct requantisation *form)
{
    bool has = false;
    for (int channel = 0; channel < form->channel_count && !has; channel++)
        has = form->channels[channel].product.multiplier < 0;
    return has;
}

/* A convolution, or a matrix product, in the engine's favourite form that equals the model's. */
static bool form_sums(const struct described_layer *described, const struct asked *asked, struct formed_layer *formed,
                      struct arena *arena)
{
    struct requantise_engine engine = {.layer = &described->record, .cycles = ask_cycles, .context = asked};
    struct requantisation *form = arena_array(arena, struct requantisation, 1);
    if (!requantise(described->sums, &engine, form, arena))
        return false;
    if (asked->engine->has_unsigned_factors && form->normalisation == DORY_NORMALISE_32 && has_negative_factor(form))
        form->normalisation = DORY_NORMALISE_64;
    requantisation_describe(form, &formed->record);
    if (described->record.operation == DORY_MATRIX_PRODUCT)
        formed->record.stages = stages_of(described, form, arena);
    formed->requantisation = form;
    return true;
}

/* Tables where these are faster. */
static void take_tables(const struct described_layer *described, const struct asked *asked, struct formed_layer *formed)
{
    if (described->tables && ask_cycles(asked, described->tables) < ask_cycles(asked, &formed->record))
        *formed = (struct formed_layer){asked->engine, *described->tables, NULL};
    dory_set_format(&formed->record, asked->engine->weights);
}

static bool form_for(const struct described_layer *described, const struct asked *asked, struct formed_layer *formed,
                     struct arena *arena)
{
    *formed = (struct formed_layer){asked->engine, described->record, described->requantisation};
    dory_set_format(&formed->record, asked->engine->weights);
    if (described->sums && !form_sums(described, asked, formed, arena))
        return false;
    take_tables(described, asked, formed);
    return described->sums || ask_cycles(asked, &formed->record) != UINT64_MAX;
}

bool form_layer(const struct described_layer *described, const struct target *target, unsigned cores, const char *name,
                struct formed_layer *formed, struct arena *arena, struct diagnostics *diagnostics)
{
    uint64_t least = UINT64_MAX;
    for (const struct dory_engine *const *engine = target->engines; *engine; engine++) {
        struct asked asked = {*engine, cores};
        struct formed_layer other;
        if (!form_for(described, &asked, &other, arena))
            continue;
        uint64_t cycles = ask_cycles(&asked, &other.record);
        if (cycles < least) {
            least = cycles;
            *formed = other;
        }
        if (!(*engine)->is_accelerator)
            return true;
    }
    if (least != UINT64_MAX)
        return true;
    if (described->sums)
        diagnose(diagnostics, SEVERITY_ERROR, name, NULL, "%s", requantise_refusal(described->sums->stage));
    else
        diagnose(diagnostics, SEVERITY_ERROR, name, NULL, "no kernel for it: %d-bit elements, %d-bit weights",
                 described->record.input_bits, described->record.weight_bits);
    return false;
}
