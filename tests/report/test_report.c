/* The reports of plans made by hand: do they say what the plan says, do their sums hold, is a name ever taken for HTML.
 * Usage: test_report FOLDER_FOR_LOGS */
#include <jansson.h>
#include <string.h>

#include "describe/layer_operation.h"
#include "dory/hal.h"
#include "expect.h"
#include "report/report_files.h"
#include "report/report_layer.h"
#include "sample_plan.h"

#define NASTY_NAME "<script>\"&'</script><!-- \xff\x01\xed\xa0\x80 \xc3\xa9"

static const int layer_counts[] = {3, 29, 64};

struct fixture {
    struct arena arena;
    struct diagnostics diagnostics;
    struct plan *plan;
    struct outputs outputs;
};

static void make_plan(struct fixture *fixture, int layers, const char *name)
{
    *fixture = (struct fixture){0};
    fixture->diagnostics = (struct diagnostics){.arena = &fixture->arena, .file = "sample.onnx"};
    fixture->plan = sample_plan(layers, name, &fixture->arena);
}

static void make_reports(struct fixture *fixture, const char *log)
{
    struct timeline timeline;
    timeline_make(fixture->plan, &timeline, &fixture->arena);
    sample_proof(fixture->plan, timeline.end_cycle);
    struct report_options options = {.log = log};
    bool added = report_add_files(fixture->plan, &options, &fixture->outputs, &fixture->arena, &fixture->diagnostics);
    EXPECT(added && fixture->outputs.count == 3, "%d files", fixture->outputs.count);
}

static void start(struct fixture *fixture, int layers, const char *name, const char *log)
{
    make_plan(fixture, layers, name);
    make_reports(fixture, log);
}

static const char *file_named(const struct fixture *fixture, const char *name)
{
    for (int i = 0; i < fixture->outputs.count; i++)
        if (!strcmp(fixture->outputs.list[i].name, name))
            return fixture->outputs.list[i].bytes;
    EXPECT(false, "there is no %s", name);
    return "";
}

static json_t *parse(const char *text)
{
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    EXPECT(root != NULL, "line %d: %s", error.line, error.text);
    return root;
}

static json_int_t number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    EXPECT(json_is_integer(value), "%s is no number", key);
    return json_integer_value(value);
}

static json_int_t sum(const json_t *array, const char *key)
{
    json_int_t total = 0;
    for (size_t i = 0; i < json_array_size(array); i++)
        total += number(json_array_get(array, i), key);
    return total;
}

/* ---- report.json ---- */

static void check_totals(const json_t *root)
{
    static const char *const summed[][2] = {
        {"macs", "macs"},
        {"tiles", "tiles"},
        {"weights_bytes", "weights_bytes"},
        {"kernel_cycles", "kernel_cycles"},
        {"dma_cycles", "dma_cycles"},
        {"layer_cycles", "predicted_cycles"},
        {"l3_wait_cycles", "l3_wait_cycles"},
        {"l3_read_bytes", "l3_read_bytes"},
    };
    const json_t *totals = json_object_get(root, "totals"), *layers = json_object_get(root, "layers");
    for (size_t i = 0; i < sizeof summed / sizeof *summed; i++)
        EXPECT(number(totals, summed[i][0]) == sum(layers, summed[i][1]), "total of %s", summed[i][0]);
    EXPECT(number(totals, "l3_read_bytes") == sum(json_object_get(root, "transfers"), "bytes"), "bytes of transfers");
    EXPECT(number(totals, "start_cycles") + number(totals, "layer_cycles") + number(totals, "l3_wait_cycles") ==
               number(totals, "timeline_cycles"),
           "cycles of start, layers and waits");
    EXPECT(number(totals, "steps") == sum(layers, "steps"), "steps");
}

/* Steps follow each other without a gap; a transfer is done before the step that needs it starts. */
static void check_times(const json_t *root)
{
    const json_t *steps = json_object_get(root, "steps"), *transfers = json_object_get(root, "transfers");
    json_int_t now = number(json_object_get(root, "totals"), "start_cycles"), channel_free = 0;
    for (size_t i = 0; i < json_array_size(steps); i++) {
        const json_t *step = json_array_get(steps, i);
        EXPECT(number(step, "begin_cycle") == now, "step %zu", i);
        EXPECT(number(step, "start_cycle") >= now && number(step, "end_cycle") >= number(step, "start_cycle"), "step %zu",
               i);
        now = number(step, "end_cycle");
    }
    EXPECT(number(json_object_get(root, "totals"), "start_cycles") +
                   sum(json_object_get(root, "layers"), "profile_cycles") ==
               now,
           "times of layers");
    for (size_t i = 0; i < json_array_size(transfers); i++) {
        const json_t *transfer = json_array_get(transfers, i);
        const json_t *needed = json_array_get(steps, (size_t)number(transfer, "needed_step"));
        EXPECT(number(transfer, "start_cycle") >= channel_free, "transfer %zu overtakes", i);
        EXPECT(number(transfer, "start_cycle") >= number(transfer, "queued_cycle"), "transfer %zu", i);
        EXPECT(number(transfer, "end_cycle") <= number(needed, "start_cycle"), "transfer %zu is late", i);
        channel_free = number(transfer, "end_cycle");
    }
}

static void check_memory(const json_t *root)
{
    const json_t *buffers = json_object_get(root, "buffers"), *memory = json_object_get(root, "memory");
    json_int_t end = 0;
    for (size_t i = 0; i < json_array_size(buffers); i++) {
        const json_t *buffer = json_array_get(buffers, i);
        json_int_t last = number(buffer, "offset") + number(buffer, "bytes");
        EXPECT(number(buffer, "first_step") <= number(buffer, "first_use_step"), "buffer %zu", i);
        EXPECT(number(buffer, "first_use_step") <= number(buffer, "last_step"), "buffer %zu", i);
        end = last > end ? last : end;
    }
    EXPECT(end == number(memory, "l2_peak_bytes"), "highest byte %lld", (long long)end);
    EXPECT(number(memory, "l2_lower_bound_bytes") <= end, "bound above peak");
}

static void check_proof(const json_t *root)
{
    const json_t *proof = json_object_get(root, "proof");
    json_int_t cycles = number(json_object_get(root, "totals"), "predicted_cycles"), bound = number(proof, "bound_cycles");
    EXPECT(number(proof, "searched_cycles") == cycles, "%lld searched", (long long)number(proof, "searched_cycles"));
    EXPECT(json_is_true(json_object_get(proof, "is_optimal")) == (bound == cycles), "%lld of %lld", (long long)bound,
           (long long)cycles);
    EXPECT(number(proof, "tail_bytes") == (bound == cycles ? 0 : 77000) && number(proof, "tail_cycles") == cycles * 3 / 4,
           "the tail");
    EXPECT(number(proof, "compute_cycles") == cycles / 2 && number(proof, "rounds") == 2 && number(proof, "nodes") == 10,
           "the rest");
    EXPECT(number(proof, "tail_layer") == (json_int_t)json_array_size(json_object_get(root, "layers")) - 1, "its layer");
}

static void check_l1(const json_t *root)
{
    const json_t *layers = json_object_get(root, "layers");
    for (size_t i = 0; i < json_array_size(layers); i++) {
        const json_t *layer = json_array_get(layers, i), *operands = json_object_get(layer, "l1");
        json_int_t end = 0;
        for (size_t k = 0; k < json_array_size(operands); k++) {
            const json_t *operand = json_array_get(operands, k);
            EXPECT(number(operand, "offset") >= end, "layer %zu, operand %zu overlaps", i, k);
            end = number(operand, "offset") + number(operand, "bytes");
        }
        EXPECT(end <= number(layer, "l1_bytes"), "layer %zu", i);
    }
}

/* The page has no words of its own for a layer's kind. */
static void check_words(const json_t *root, const struct plan *plan)
{
    const json_t *layers = json_object_get(root, "layers");
    for (int i = 0; i < plan->network->layer_count; i++) {
        const char *told = json_string_value(json_object_get(json_array_get(layers, (size_t)i), "kind_words"));
        const char *words = layer_words(plan->network, &plan->network->layers[i]);
        EXPECT(told && !strcmp(told, words), "layer %d is %s, told as %s", i, words, told ? told : "nothing");
    }
}

/* Members of the firmware's structs are there by their names, flags and enumerators as such. */
static void check_members(const json_t *root, const struct plan *plan)
{
    static const char *const kinds[] = {
        [HAL_FLASH_READ] = "flash_read", [HAL_RAM_READ] = "ram_read", [HAL_RAM_WRITE] = "ram_write"};
    for (int i = 0; i < plan->transfer_count; i++) {
        const json_t *transfer = json_array_get(json_object_get(root, "transfers"), (size_t)i);
        const struct dory_transfer *record = &plan->transfers[i].record;
        const char *kind = json_string_value(json_object_get(transfer, "kind"));
        EXPECT(kind && !strcmp(kind, kinds[record->kind]), "transfer %d is a %s", i, kind ? kind : "nothing");
        EXPECT(number(transfer, "run_bytes") == record->run_bytes && number(transfer, "runs") == record->runs &&
                   number(transfer, "l3_address") == record->l3_address &&
                   number(transfer, "l2_stride") == record->l2_stride,
               "transfer %d", i);
    }
    for (int i = 0; i < plan->step_count; i++) {
        const json_t *step = json_array_get(json_object_get(root, "steps"), (size_t)i);
        const struct dory_step *record = &plan->steps[i].record;
        EXPECT(json_is_true(json_object_get(step, "drain")) == (record->drain != 0), "drain of step %d", i);
        EXPECT(json_is_boolean(json_object_get(step, "last_of_layer")), "last step of step %d", i);
        EXPECT(number(step, "weights_offset") == record->weights_offset && number(step, "rows") == record->rows, "step %d",
               i);
        EXPECT(!json_object_get(step, "input") && !json_object_get(step, "output"), "windows of step %d", i);
    }
}

/* Every form has a word, and no two have the same. */
static void test_normalisations(void)
{
    struct arena arena = {0};
    struct plan *plan = sample_plan(3, "words", &arena);
    const char *words[DORY_NORMALISE_CHANNELS + 1] = {0};
    for (int i = 0; i <= DORY_NORMALISE_CHANNELS; i++) {
        plan->layers[0].record.normalisation = (uint8_t)i;
        words[i] = report_normalisation(plan, 0);
        EXPECT(words[i] != NULL, "normalisation %d has no word", i);
        for (int j = 0; j < i; j++)
            EXPECT(!words[i] || !words[j] || strcmp(words[i], words[j]) != 0, "%d and %d are both %s", i, j, words[i]);
    }
    arena_free(&arena);
}

static void test_json(int layers)
{
    struct fixture fixture;
    start(&fixture, layers, "conv", NULL);
    json_t *root = parse(file_named(&fixture, "report.json"));
    EXPECT(json_array_size(json_object_get(root, "layers")) == (size_t)layers, "layers");
    EXPECT(json_array_size(json_object_get(root, "tensors")) == (size_t)layers + 1, "tensors");
    check_totals(root);
    check_members(root, fixture.plan);
    check_words(root, fixture.plan);
    check_times(root);
    check_memory(root);
    check_proof(root);
    check_l1(root);
    json_decref(root);
    arena_free(&fixture.arena);
}

/* ---- report.html ---- */

static size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

/* The data between their tags are the JSON report, and neither they nor anything else reaches out of the page. */
static void test_html(const char *name)
{
    static const char open[] = "<script type=\"application/json\" id=\"data\">";
    struct fixture fixture;
    start(&fixture, 3, name, NULL);
    const char *page = file_named(&fixture, "report.html");
    EXPECT(occurrences(page, "<script") == 2 && occurrences(page, "</script>") == 2, "scripts");
    EXPECT(occurrences(page, "{{") == occurrences(page, "}}"), "braces");
    EXPECT(!strstr(page, "https://") && !strstr(page, " src=") && !strstr(page, "@import"), "reaches out");
    EXPECT(!strstr(page, "innerHTML"), "text taken for HTML");
    const char *data = strstr(page, open), *end = data ? strstr(data, "</script>") : NULL;
    EXPECT(data && end, "there are no data");
    if (data && end) {
        char *json = arena_format(&fixture.arena, "%.*s", (int)(end - data - (long)strlen(open)), data + strlen(open));
        EXPECT(!strpbrk(json, "<>&"), "characters of HTML in the data");
        json_t *embedded = parse(json), *report = parse(file_named(&fixture, "report.json"));
        EXPECT(json_equal(embedded, report), "the page's data are not the report's");
        json_decref(embedded);
        json_decref(report);
    }
    arena_free(&fixture.arena);
}

/* What JSON allows is kept, bytes that are not UTF-8 are replaced. */
static void test_name(void)
{
    struct fixture fixture;
    start(&fixture, 3, NASTY_NAME, NULL);
    json_t *root = parse(file_named(&fixture, "report.json"));
    const json_t *layer = json_array_get(json_object_get(root, "layers"), 0);
    const char *name = json_string_value(json_object_get(layer, "name"));
    static const char expected[] =
        "<script>\"&'</script><!-- \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd \xc3\xa9 0";
    EXPECT(name && !strcmp(name, expected), "'%s'", name ? name : "");
    json_decref(root);
    arena_free(&fixture.arena);
}

/* ---- report_trace.json ---- */

enum { FIRST_CORE = 10, CORES = 8 }; /* tracks */

/* Slices of a track follow each other: viewers refuse what overlaps. */
static void check_track(const json_t *events, json_int_t track)
{
    json_int_t end = 0;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        if (number(event, "tid") != track || strcmp(json_string_value(json_object_get(event, "ph")), "X") != 0)
            continue;
        EXPECT(number(event, "ts") >= end, "track %d, event %zu overlaps", (int)track, i);
        end = number(event, "ts") + number(event, "dur");
    }
}

/* The tiles are those of the plan: how many, and how long all their kernels, loads and stores are. */
static void check_tiles(const json_t *events, const struct plan *plan)
{
    json_int_t count = 0, kernels = 0, transfers = 0, tiles = 0, kernel_cycles = 0, dma_cycles = 0;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        json_int_t track = number(event, "tid");
        if (strcmp(json_string_value(json_object_get(event, "ph")), "X") != 0)
            continue;
        count += track == FIRST_CORE;
        kernels += track == FIRST_CORE ? number(event, "dur") : 0;
        transfers += track == 3 || track == 4 ? number(event, "dur") : 0;
        EXPECT(track < FIRST_CORE + CORES, "core %d", (int)track - FIRST_CORE);
    }
    for (int i = 0; i < plan->network->layer_count; i++) {
        tiles += plan->layers[i].tile_count;
        kernel_cycles += (json_int_t)plan->layers[i].kernel_cycles;
        dma_cycles += (json_int_t)plan->layers[i].dma_cycles;
    }
    EXPECT(count == tiles && tiles > plan->network->layer_count, "%d of %d tiles", (int)count, (int)tiles);
    EXPECT(kernels == kernel_cycles, "%lld cycles of kernels", (long long)kernels);
    EXPECT(transfers == dma_cycles, "%lld cycles of transfers", (long long)transfers);
}

static void test_trace(int layers)
{
    struct fixture fixture;
    size_t steps = 0, transfers = 0;
    start(&fixture, layers, NASTY_NAME, NULL);
    json_t *root = parse(file_named(&fixture, "report_trace.json"));
    const json_t *events = json_object_get(root, "traceEvents");
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        const char *phase = json_string_value(json_object_get(event, "ph"));
        EXPECT(json_is_string(json_object_get(event, "name")) && number(event, "ts") >= 0, "event %zu", i);
        if (!phase || strcmp(phase, "X") != 0)
            continue;
        EXPECT(number(event, "dur") >= 0, "event %zu", i);
        steps += json_object_get(json_object_get(event, "args"), "step") != NULL;
        transfers += number(event, "tid") == 2;
    }
    EXPECT(steps == (size_t)layers && transfers == (size_t)layers, "%zu steps, %zu transfers", steps, transfers);
    check_tiles(events, fixture.plan);
    for (int track = 1; track < FIRST_CORE + CORES; track++)
        check_track(events, track);
    json_decref(root);
    arena_free(&fixture.arena);
}

/* ---- measurements ---- */

static const char *write_log(struct arena *arena, const char *folder, const char *text)
{
    const char *path = arena_format(arena, "%s/report_test.log", folder);
    FILE *file = fopen(path, "wb");
    EXPECT(file && fputs(text, file) >= 0, "cannot write %s", path);
    if (file)
        fclose(file);
    return path;
}

static const struct measured_layer *read_log(struct arena *arena, const char *folder, const char *text, int *errors)
{
    struct diagnostics diagnostics = {.arena = arena, .file = "sample.onnx"};
    const struct measured_layer *measured = report_read_log(write_log(arena, folder, text), 3, arena, &diagnostics);
    *errors = diagnostics.error_count;
    return measured;
}

static void test_log(const char *folder)
{
    struct arena arena = {0};
    int errors;
    const struct measured_layer *measured =
        read_log(&arena, folder,
                 "layer 0 conv: exact (12 values)\r\n"
                 "perf layer 0 conv: 12345 cycles, 1000 waiting for L2, 7 for L3, 8 tiles; 98304 MAC, 7.96 MAC/cycle\r\n"
                 "\x01\xff garbage\n"
                 "perf layer 2 a: 1 cycles, 1 waiting for L2, 1 for L3: 99 cycles, 2 waiting for L2, 3 for L3, 1 tiles\n"
                 "total: 123 cycles",
                 &errors);
    EXPECT(measured && errors == 0, "%d errors", errors);
    if (measured) {
        EXPECT(measured[0].is_known && measured[0].cycles == 12345, "layer 0");
        EXPECT(measured[0].dma_wait_cycles == 1000 && measured[0].l3_wait_cycles == 7, "layer 0");
        EXPECT(!measured[1].is_known, "layer 1");
        EXPECT(measured[2].is_known && measured[2].cycles == 99, "layer 2");
    }
    EXPECT(!read_log(&arena, folder, "perf layer 3 x: 1 cycles, 0 waiting for L2, 0 for L3", &errors) && errors == 1,
           "a layer that is not there");
    EXPECT(!read_log(&arena, folder, "perf layer 1 x: 18446744073709551616 cycles, 0 waiting for L2, 0 for L3\n", &errors) &&
               errors == 1,
           "a number beyond 64 bits");
    EXPECT(!read_log(&arena, folder, "perf layer\nperf layer 0\nperf\n", &errors) && errors == 1, "no numbers");
    arena_free(&arena);
}

static void test_measured(const char *folder)
{
    struct fixture fixture;
    struct arena arena = {0};
    start(&fixture, 3, "conv",
          write_log(&arena, folder, "perf layer 1 conv 1: 5000 cycles, 10 waiting for L2, 20 for L3, 8 tiles\n"));
    json_t *root = parse(file_named(&fixture, "report.json"));
    const json_t *layers = json_object_get(root, "layers");
    EXPECT(!json_object_get(json_array_get(layers, 0), "measured"), "layer 0 was not measured");
    EXPECT(number(json_object_get(json_array_get(layers, 1), "measured"), "cycles") == 5000, "layer 1");
    EXPECT(number(json_object_get(root, "totals"), "measured_cycles") == 5000, "total");
    json_decref(root);
    arena_free(&fixture.arena);
    arena_free(&arena);
}

/* Same plan, same bytes. */
static void test_deterministic(void)
{
    struct fixture first, second;
    start(&first, 29, "conv", NULL);
    start(&second, 29, "conv", NULL);
    for (int i = 0; i < first.outputs.count && i < second.outputs.count; i++)
        EXPECT(!strcmp(first.outputs.list[i].bytes, second.outputs.list[i].bytes), "%s", first.outputs.list[i].name);
    arena_free(&first.arena);
    arena_free(&second.arena);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    for (size_t i = 0; i < sizeof layer_counts / sizeof *layer_counts; i++) {
        test_json(layer_counts[i]);
        test_trace(layer_counts[i]);
    }
    test_normalisations();
    test_html("conv");
    test_html(NASTY_NAME);
    test_name();
    test_log(argv[1]);
    test_measured(argv[1]);
    test_deterministic();
    return expect_result("test_report");
}
