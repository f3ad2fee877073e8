/* Of a check the files of its folder, and its inputs: from these, from a state, or from a seed. */
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "values/expected_source.h"
#include "values/tensor_file.h"

/* ---- files ---- */

void expected_note_file(const struct source *source, const char *path)
{
    source->expected->files[source->expected->file_count++] = path;
}

const char *expected_find_file(const struct source *source, const char *name)
{
    if (!source->options->folder)
        return NULL;
    const char *path = arena_format(source->arena, "%s/%s", source->options->folder, name);
    return access(path, F_OK) == 0 ? path : NULL;
}

/* ---- input ---- */

/* Numbers that are the same on every machine (splitmix64). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int64_t *seeded_input(const struct tensor *tensor, uint64_t state, struct arena *arena)
{
    int64_t *values = arena_array(arena, int64_t, tensor_elements(tensor));
    int64_t least = expected_least_element(tensor), greatest = expected_greatest_element(tensor);
    bool declared = tensor->minimum < tensor->maximum && tensor->minimum >= least && tensor->maximum <= greatest;
    uint64_t span;
    if (declared)
        least = tensor->minimum, greatest = tensor->maximum;
    span = (uint64_t)(greatest - least) + 1;
    for (size_t i = 0; i < tensor_elements(tensor); i++)
        values[i] = least + (int64_t)(next_random(&state) % span);
    return values;
}

static const char *run_file(const struct source *source, const char *role, unsigned sample, int index, int count)
{
    const char *number =
        count > 1 ? arena_format(source->arena, "%u_%d", sample, index) : arena_format(source->arena, "%u", sample);
    return expected_find_file(source, arena_format(source->arena, "%s_%s.bin", role, number));
}

const char *expected_run_file(const struct source *source, const char *role, unsigned sample, int index, int count)
{
    int others = count - source->network->state_count;
    const char *path = run_file(source, role, sample, index, count);
    return path || index >= others ? path : run_file(source, role, sample, index, others);
}

int64_t *expected_first_state(const struct network *network, int input, struct arena *arena)
{
    const struct network_state *state = NULL;
    for (int i = 0; i < network->state_count; i++)
        state = network->states[i].input == input ? &network->states[i] : state;
    if (!state)
        return NULL;
    size_t count = tensor_elements(&network->tensors[network->inputs[input]]);
    int64_t *elements = arena_array(arena, int64_t, count);
    for (size_t i = 0; i < count; i++)
        elements[i] = state->first;
    return elements;
}

/* Of a network with one input, input_<i>.txt; of any, input_<i>.bin. */
static const char *sample_file(const struct source *source, unsigned sample, int index)
{
    int count = source->network->input_count;
    const char *text = count == 1 ? expected_find_file(source, arena_format(source->arena, "input_%u.txt", sample)) : NULL;
    return text ? text : expected_run_file(source, "input", sample, index, count);
}

/* Of the names by which tools write the input of a network that has one: PLiNIO dumps input_quantizer.txt. */
static const char *find_single_input(const struct source *source)
{
    static const char *const names[] = {"input.txt", "input.npy", "inputs.npz", "input_quantizer.txt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = expected_find_file(source, names[i]);
        if (path)
            return path;
    }
    return NULL;
}

/* The file of an input for the sample at hand, null where there is none. */
static const char *input_file(const struct source *source, int index)
{
    const struct tensor *tensor = &source->network->tensors[source->network->inputs[index]];
    const char *path = NULL;
    if (source->options->input && index == 0)
        return source->options->input;
    if (source->network->input_count == 1 && source->expected->sample_count == 1)
        path = find_single_input(source);
    else if (source->network->input_count > 1 && !strchr(tensor->name, '/'))
        path = expected_find_file(source, arena_format(source->arena, "input_%s.txt", tensor->name));
    if (!path && source->network->input_count > 1 && source->expected->sample_count == 1)
        path = expected_find_file(source, "inputs.npz");
    return path ? path : sample_file(source, source->sample, index);
}

static int64_t *find_input(const struct source *source, int index)
{
    const struct tensor *tensor = &source->network->tensors[source->network->inputs[index]];
    const char *path = input_file(source, index);
    if (index == 0 && source->sample == 0)
        source->expected->input_source = path ? arena_format(source->arena, "%s", text_file_name(path)) : "a fixed seed";
    if (path) {
        expected_note_file(source, path);
        return tensor_file_read(path, source->network, source->network->inputs[index], source->scratch, source->diagnostics);
    }
    int64_t *first = source->expected->file_count ? expected_first_state(source->network, index, source->scratch) : NULL;
    if (first)
        return first;
    if (source->options->folder && source->options->sample_count > 1) {
        diagnose(source->diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "check: %u inputs are asked for (n_inputs); %s has no input_%u.txt", source->options->sample_count,
                 source->options->folder, source->sample);
        return NULL;
    }
    diagnose(source->diagnostics, SEVERITY_NOTE, NULL, NULL, "check: no file of input '%s'; it is made from a fixed seed",
             tensor->name);
    return seeded_input(tensor, 1 + (uint64_t)index + 1000 * (uint64_t)source->sample, source->scratch);
}

bool expected_find_inputs(const struct source *source, const int64_t **inputs)
{
    for (int i = 0; i < source->network->input_count; i++)
        if (!(inputs[i] = find_input(source, i)))
            return false;
    return true;
}

#define MAXIMUM_SAMPLES 1000

unsigned expected_count_samples(const struct source *source)
{
    unsigned count = 0;
    if (source->options->input)
        return 1;
    if (source->options->sample_count)
        return source->options->sample_count < MAXIMUM_SAMPLES ? source->options->sample_count : MAXIMUM_SAMPLES;
    while (count < MAXIMUM_SAMPLES && sample_file(source, count, 0))
        count++;
    return count ? count : 1;
}
