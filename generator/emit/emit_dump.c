/* The generated part of a firmware that writes tensors to its log: where they lie, see dory/dump.h. */
#include <stdlib.h>
#include <string.h>

#include "dory/dump.h"
#include "emit/emit.h"
#include "emit/records.h"
#include "values/expected.h"

/* ---- the choice ---- */

/* A number below `end`, and what stands behind it; -1 where there is none. */
static long take_number(const char **text, long end)
{
    char *behind;
    long number = **text >= '0' && **text <= '9' ? strtol(*text, &behind, 10) : -1;
    if (number < 0 || number >= end)
        return -1;
    *text = behind;
    return number;
}

/* "4" or "4-6". */
static bool take_range(const char **text, long layer_count, bool *chosen)
{
    long first = take_number(text, layer_count), last = first;
    if (first >= 0 && **text == '-') {
        ++*text;
        last = take_number(text, layer_count);
    }
    for (long layer = first; first >= 0 && layer <= last; layer++)
        chosen[layer] = true;
    return first >= 0 && last >= first;
}

const bool *emit_choose_dumped(const char *list, int layer_count, struct arena *arena, struct diagnostics *diagnostics)
{
    bool *chosen = arena_array(arena, bool, (size_t)layer_count), good = true;
    const char *rest = strcmp(list, "all") != 0 ? list : arena_format(arena, "0-%d", layer_count - 1);
    for (bool more = true; more && good; rest += more) {
        good = take_range(&rest, layer_count, chosen) && (*rest == ',' || !*rest);
        more = good && *rest == ',';
    }
    if (!good)
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "--dump-tensors '%s': all, or numbers of layers from 0 to %d, such as 0,2-3", list, layer_count - 1);
    return good ? chosen : NULL;
}

/* ---- the table ---- */

static struct dory_dump_layer dump_layer(const struct emission *emission, int layer)
{
    const struct network *network = emission->plan->network;
    int result = tensor_home(network, network->layers[layer].output);
    const struct plan_tensor *planned = &emission->plan->tensors[result];
    size_t bytes = expected_tensor_bytes(&network->tensors[result]);
    struct place place = plan_place(emission->plan, result);
    return (struct dory_dump_layer){
        .number = (uint16_t)layer,
        .in_ram = place.in_ram,
        .is_ring = planned->level == IN_RING,
        .offset = place.offset,
        .bytes = emission->dumped[layer] ? (uint32_t)bytes : 0,
        .planes = planned->layout == DORY_CHW ? emission->plan->layers[layer].record.output_channels : 0,
    };
}

void emit_dump_table(struct text *text, const struct emission *emission)
{
    const struct plan *plan = emission->plan;
    text_add_string(text, "static const struct dory_dump_layer dump_layers[] = {\n");
    for (int i = 0; i < plan->step_count; i++) {
        if (!plan->steps[i].record.last_of_layer)
            continue;
        struct dory_dump_layer entry = dump_layer(emission, plan->steps[i].layer);
        text_add_string(text, "    /* ");
        text_add_in_comment(text, plan->network->layers[entry.number].name);
        text_add_string(text, " */\n    ");
        print_record(text, &record_dump_layer, &entry, 8);
        text_add_string(text, ",\n");
    }
    text_add(text,
             "};\n\n"
             "static const struct dory_dump %s_dump = {\n"
             "    .network = &%s_network,\n"
             "    .layers = dump_layers,\n"
             "    .name = \"%s\",\n"
             "    .model_hash = 0x%08x,\n"
             "};\n\n",
             emission->name, emission->name, emission->name, network_hash(plan->network));
}
