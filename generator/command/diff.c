/* dory diff: what a board wrote to its log, compared with the golden model, which gets the input that the board had. */
#include "command/commands.h"

#include <inttypes.h>
#include <string.h>

#include "base/terminal.h"
#include "command/dump_log.h"
#include "command/load_model.h"
#include "dory/status.h"
#include "network/channels.h"
#include "network/interpret.h"
#include "plan/plan.h"
#include "plan/views.h"
#include "values/expected.h"
#include "values/text_tensor.h"

struct diff {
    const char *log_path;
    const struct options *options;
    struct network *network;     /* that the board has */
    const struct network *whole; /* with its dead channels, of which the board has none */
    uint32_t model_hash;
    struct dump_log log;
    int64_t **golden; /* of the run at hand, by tensor, all channels */
    int64_t **board;  /* likewise, with the board's channels; null where the log lacks a part of it */
    int exact, differing, incomplete;
    bool failed; /* for another reason than a tensor */
    struct arena *arena;
    struct diagnostics *diagnostics;
};

/* ---- values of a run -------------------------------------------------------------------------------------------- */

static const struct tensor *layer_output(const struct diff *diff, int layer)
{
    return &diff->network->tensors[tensor_home(diff->network, diff->network->layers[layer].output)];
}

static int64_t *unpack(struct diff *diff, const struct tensor *tensor, const struct dumped_tensor *dumped)
{
    int64_t *values = arena_array(diff->arena, int64_t, tensor_elements(tensor));
    expected_unpack(tensor, dumped->bytes, values);
    return values;
}

static void unpack_run(struct diff *diff, const struct dumped_run *run)
{
    const struct network *network = diff->network;
    diff->board = arena_array(diff->arena, int64_t *, (size_t)network->tensor_count);
    for (int i = 0; i < network->input_count; i++)
        if (run->inputs[i].missing == 0)
            diff->board[network->inputs[i]] = unpack(diff, &network->tensors[network->inputs[i]], &run->inputs[i]);
    for (int i = 0; i < network->layer_count; i++)
        if (run->layers[i].missing == 0)
            diff->board[tensor_home(network, network->layers[i].output)] =
                unpack(diff, layer_output(diff, i), &run->layers[i]);
}

/* The input that the command line gives, for the network's first. */
static const int64_t *read_input(struct diff *diff)
{
    const struct tensor *tensor = &diff->network->tensors[diff->network->inputs[0]];
    struct text_tensor file = {0};
    if (!text_tensor_read(diff->options->input, &file, diff->arena, diff->diagnostics))
        return NULL;
    if (file.count == tensor_elements(tensor))
        return file.values;
    diagnose(diff->diagnostics, SEVERITY_ERROR, NULL, NULL, "%s holds %zu values; the network's input has %zu",
             diff->options->input, file.count, tensor_elements(tensor));
    return NULL;
}

/* Null after an error: neither the log nor the command line has it whole. */
static const int64_t *find_input(struct diff *diff, const struct dumped_run *run, int index)
{
    int tensor = diff->network->inputs[index];
    if (index == 0 && diff->options->input)
        return read_input(diff);
    if (!diff->board[tensor])
        diagnose(diff->diagnostics, SEVERITY_ERROR, NULL, NULL, "%zu of %zu bytes of input '%s' are not in the log; %s",
                 run->inputs[index].missing, run->inputs[index].size, diff->network->tensors[tensor].name,
                 index == 0 ? "give the input that the board had: --input FILE" : "without it there is nothing to compare");
    return diff->board[tensor];
}

static bool run_golden_model(struct diff *diff, const struct dumped_run *run)
{
    const int64_t **inputs = arena_array(diff->arena, const int64_t *, (size_t)diff->network->input_count);
    for (int i = 0; i < diff->network->input_count; i++)
        if (!(inputs[i] = find_input(diff, run, i)))
            return false;
    progress_step("computing what should be");
    diff->golden = interpret_network(diff->whole, inputs, diff->arena, diff->diagnostics);
    progress_step(NULL);
    return diff->golden != NULL;
}

/* ---- one tensor ------------------------------------------------------------------------------------------------- */

struct difference {
    size_t values, differing;
    size_t first; /* element, in HWC order */
    int64_t expected, actual;
};

/* Of those elements that are whole in the log. */
static struct difference compare(const struct tensor *tensor, const int64_t *golden, const int64_t *actual,
                                 const struct dumped_tensor *dumped)
{
    struct difference difference = {0};
    for (size_t i = 0; i < tensor_elements(tensor); i++) {
        if (!expected_has_element(tensor, dumped->has, i))
            continue;
        difference.values++;
        if (golden[i] != actual[i] && difference.differing++ == 0) {
            difference.first = i;
            difference.expected = golden[i];
            difference.actual = actual[i];
        }
    }
    return difference;
}

static void print_place(const struct tensor *tensor, size_t element)
{
    size_t channels = (size_t)tensor->channels, width = (size_t)tensor->width, pixel = element / channels;
    printf("(%d, %d, %d)", line_in_whole(tensor, AXIS_ROW, (int)(pixel / width)),
           line_in_whole(tensor, AXIS_COLUMN, (int)(pixel % width)), channel_in_whole(tensor, (int)(element % channels)));
}

/* A layer that differs: does it do so of itself, or because its inputs did? */
static const char *blame(struct diff *diff, int index)
{
    const struct layer *layer = &diff->network->layers[index];
    for (int i = 0; i < layer_input_count(layer); i++)
        if (!diff->board[layer->inputs[i]])
            return "";
    int result = tensor_home(diff->network, layer->output);
    size_t elements = tensor_elements(layer_output(diff, index));
    int64_t **tensors = arena_array(diff->arena, int64_t *, (size_t)diff->network->tensor_count);
    memcpy(tensors, diff->board, (size_t)diff->network->tensor_count * sizeof *tensors);
    tensors[result] = arena_array(diff->arena, int64_t, elements);
    tensors[layer->output] = result == layer->output ? tensors[result] : arena_array(diff->arena, int64_t, elements);
    if (!diff->board[result] || !interpret_layer(diff->network, index, tensors, diff->diagnostics))
        return "";
    interpret_result(diff->network, index, tensors);
    bool follows = !memcmp(tensors[result], diff->board[result], elements * sizeof **tensors);
    return follows ? "; follows from its input" : "; its input gives something else: the fault is in this layer";
}

/* Returns whether a person must look at it. */
static void print_difference(struct diff *diff, const struct tensor *tensor, const struct difference *found,
                             const char *blamed)
{
    const char *plain = terminal_colour(stdout, COLOUR_NONE);
    if (found->differing == 0) {
        printf("%sexact%s (%zu values)\n", terminal_colour(stdout, COLOUR_GREEN), plain, found->values);
        return;
    }
    printf("%sdiffers%s at ", terminal_colour(stdout, COLOUR_RED), plain);
    print_place(tensor, found->first);
    printf(": expected %" PRId64 ", actual %" PRId64 "; %zu of %zu values differ%s\n", found->expected, found->actual,
           found->differing, found->values, blamed);
    diff->differing++;
}

static void print_missing(struct diff *diff, const struct dumped_tensor *dumped)
{
    size_t first = 0;
    while (first < dumped->size && dumped->has[first])
        first++;
    printf("%s%zu of %zu bytes are not in the log%s, the first at 0x%zx; the rest: ", terminal_colour(stdout, COLOUR_YELLOW),
           dumped->missing, dumped->size, terminal_colour(stdout, COLOUR_NONE), first);
    diff->incomplete++;
}

/* ---- one run ---------------------------------------------------------------------------------------------------- */

static void compare_layer(struct diff *diff, const struct dumped_run *run, int index)
{
    const struct tensor *tensor = layer_output(diff, index);
    const struct dumped_tensor *dumped = &run->layers[index];
    int result = tensor_home(diff->network, diff->network->layers[index].output);
    const int64_t *golden = channels_take(diff->network, result, diff->golden[result], diff->arena);
    int64_t *actual = diff->board[result];
    if (!actual)
        actual = unpack(diff, tensor, dumped);
    struct difference found = compare(tensor, golden, actual, dumped);
    printf("layer %d %s: ", index, diff->network->layers[index].name);
    if (tensor->kept)
        printf("%d of %d channels, the others are dead: ", tensor->channels, diff->whole->tensors[result].channels);
    if (tensor->kept_rows || tensor->kept_columns)
        printf("%d x %d of %d x %d pixels, the others are unread: ", tensor->height, tensor->width,
               diff->whole->tensors[result].height, diff->whole->tensors[result].width);
    if (dumped->missing)
        print_missing(diff, dumped);
    else
        diff->exact += found.differing == 0;
    print_difference(diff, tensor, &found, found.differing ? blame(diff, index) : "");
}

/* Only where --input gives another input than the log has is there something to say. */
static void compare_input(struct diff *diff, const struct dumped_run *run)
{
    int input = diff->network->inputs[0];
    const struct tensor *tensor = &diff->network->tensors[input];
    if (!diff->options->input || !diff->board[input])
        return;
    struct difference found = compare(tensor, diff->golden[input], diff->board[input], &run->inputs[0]);
    printf("input %s: ", tensor->name);
    print_difference(diff, tensor, &found, ", which is no fault of the network");
}

/* Tensors that were to come and did not. With all layers announced, they have names. */
static void report_absent(struct diff *diff, const struct dumped_run *run)
{
    int inputs = diff->network->input_count, layers = diff->network->layer_count, occur = 0;
    for (int i = 0; i < inputs; i++)
        occur += run->inputs[i].occurs;
    for (int i = 0; i < layers; i++)
        occur += run->layers[i].occurs;
    for (int i = 0; i < layers && run->announced == inputs + layers; i++)
        if (!run->layers[i].occurs)
            printf("layer %d %s: %snot in the log%s\n", i, diff->network->layers[i].name,
                   terminal_colour(stdout, COLOUR_YELLOW), terminal_colour(stdout, COLOUR_NONE));
    if (occur < run->announced) {
        printf("%d of %d tensors that the firmware meant to write are not in the log\n", run->announced - occur,
               run->announced);
        diff->incomplete += run->announced - occur;
    }
}

static void report_end(struct diff *diff, const struct dumped_run *run)
{
    if (run->has_end && run->status == 0)
        return;
    diff->failed = true;
    if (run->has_end)
        printf("the run on the board ended with status %d: %s\n", run->status, dory_strerror(run->status));
    else
        puts("the log ends before the run did");
}

static void compare_run(struct diff *diff, const struct dumped_run *run)
{
    if (!run->is_of_model) {
        printf("line %zu: a run of %s, whose model has the hash %08" PRIx32 ", not %08" PRIx32 ": not compared\n", run->line,
               run->name, run->model_hash, diff->model_hash);
        return;
    }
    printf("line %zu: a run of %s\n", run->line, run->name);
    unpack_run(diff, run);
    if (run_golden_model(diff, run)) {
        compare_input(diff, run);
        for (int i = 0; i < diff->network->layer_count; i++)
            if (run->layers[i].occurs)
                compare_layer(diff, run, i);
        report_absent(diff, run);
    }
    report_end(diff, run);
}

/* ---- the command ------------------------------------------------------------------------------------------------ */

static void report_log_without_runs(struct diff *diff)
{
    for (int i = 0; i < diff->log.run_count; i++)
        if (diff->log.runs[i].is_of_model)
            return;
    diff->failed = true;
    if (diff->log.run_count == 0)
        diagnose(diff->diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "no tensors in this log; was the firmware made with DUMP (dory generate --dump-tensors)?");
    else
        diagnose(diff->diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "the log is of another network, or of another version of %s: its hash is %08" PRIx32
                 ", the model's %08" PRIx32,
                 diff->options->model, diff->log.runs[0].model_hash, diff->model_hash);
}

static bool has_runs_of(const struct dump_log *log, uint32_t hash)
{
    for (int i = 0; i < log->run_count; i++)
        if (log->runs[i].model_hash == hash)
            return true;
    return false;
}

/* The firmware's is the network as it is, or that with views, whichever was faster. */
static bool read_log(struct diff *diff, struct network *network)
{
    *diff->diagnostics = (struct diagnostics){.arena = diff->arena, .file = diff->log_path}; /* dory generate has warned */
    diff->network = network;
    diff->whole = network->whole ? network->whole : network;
    diff->model_hash = network_hash(network);
    return dump_log_read(diff->log_path, network, diff->model_hash, &diff->log, diff->arena, diff->diagnostics);
}

static bool compare_log(struct diff *diff)
{
    struct network *whole = model_load(diff->options, diff->arena, diff->diagnostics);
    if (!whole)
        return false;
    struct network *network = model_shrink(whole, diff->options, diff->arena);
    if (!read_log(diff, network))
        return false;
    for (enum view_kinds kinds = VIEWS_IN_A_ROW; kinds < VIEW_KINDS; kinds++) {
        struct network *viewed = network_view(network, kinds, diff->arena);
        if (viewed && has_runs_of(&diff->log, network_hash(viewed)) && !read_log(diff, viewed))
            return false;
    }
    for (int i = 0; i < diff->log.run_count; i++)
        compare_run(diff, &diff->log.runs[i]);
    report_log_without_runs(diff);
    printf("%d exact, %d differ, %d incomplete\n", diff->exact, diff->differing, diff->incomplete);
    return diff->exact > 0 && !diff->differing && !diff->incomplete && !diff->failed && !diff->log.damaged &&
           !diff->diagnostics->error_count;
}

enum exit_status command_diff(struct invocation *invocation)
{
    struct diff diff = {.log_path = invocation->options.operands[0],
                        .options = &invocation->options,
                        .arena = &invocation->arena,
                        .diagnostics = &invocation->diagnostics};
    return compare_log(&diff) ? EXIT_DONE : EXIT_FAULT;
}
