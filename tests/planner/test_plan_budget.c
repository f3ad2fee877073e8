/* What is left of L2 for a network's arena: beside a measured firmware, the application and the network's own tables; and
 * that programs to be measured may be any bytes. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "check/check.h"
#include "command/firmware.h"
#include "command/memory_options.h"
#include "dory/hal.h"
#include "expect.h"
#include "networks.h"
#include "plan/table_bytes.h"
#include "share.h"

static void set_word(uint8_t *bytes, size_t offset, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        bytes[offset + (size_t)i] = (uint8_t)(word >> 8 * i);
}

enum { SECTIONS = 52, SYMBOLS = SECTIONS + 3 * 40, NAMES = SYMBOLS + 2 * 16, PROGRAM_BYTES = NAMES + 40 };

/* The least program with the symbol: sections 0 (null), 1 (symbols), 2 (names). */
static void make_program(uint8_t *bytes, const char *symbol, uint32_t value)
{
    memset(bytes, 0, PROGRAM_BYTES);
    memcpy(bytes, "\177ELF\1\1\1", 7);
    set_word(bytes, 32, SECTIONS);
    set_word(bytes, 44, 40u << 16); /* bytes of a section header */
    set_word(bytes, 48, 3);
    set_word(bytes, SECTIONS + 40 + 4, 2);
    set_word(bytes, SECTIONS + 40 + 16, SYMBOLS);
    set_word(bytes, SECTIONS + 40 + 20, 2 * 16);
    set_word(bytes, SECTIONS + 40 + 24, 2);
    set_word(bytes, SECTIONS + 80 + 4, 3);
    set_word(bytes, SECTIONS + 80 + 16, NAMES);
    set_word(bytes, SECTIONS + 80 + 20, 40);
    set_word(bytes, SYMBOLS + 16, 1);
    set_word(bytes, SYMBOLS + 20, value);
    memcpy(bytes + NAMES + 1, symbol, strlen(symbol));
}

static bool measure(const char *path, const uint8_t *bytes, size_t count, uint32_t *value)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    FILE *file = fopen(path, "wb");
    EXPECT(file && fwrite(bytes, 1, count, file) == count && fclose(file) == 0, "cannot write %s", path);
    bool good = firmware_l2_bytes(path, value, &arena, &diagnostics);
    EXPECT(good == (diagnostics.error_count == 0), "%d errors", diagnostics.error_count);
    arena_free(&arena);
    return good;
}

static void test_programs(const char *path)
{
    uint8_t bytes[PROGRAM_BYTES];
    uint32_t value = 0;
    make_program(bytes, "dory_l2_firmware_bytes", 12345);
    EXPECT(measure(path, bytes, sizeof bytes, &value) && value == 12345, "%" PRIu32, value);
    for (size_t count = 0; count < sizeof bytes; count++)
        EXPECT(!measure(path, bytes, count, &value) || count >= NAMES, "%zu bytes of %zu do", count, sizeof bytes);
    for (size_t at = 0; at < sizeof bytes; at++) { /* any answer, but no fault: sanitizers look on */
        uint8_t wrong[PROGRAM_BYTES];
        memcpy(wrong, bytes, sizeof wrong);
        wrong[at] = (uint8_t)~wrong[at];
        measure(path, wrong, sizeof wrong, &value);
    }
    make_program(bytes, "dory_l2_firmware_byte", 12345);
    EXPECT(!measure(path, bytes, sizeof bytes, &value), "another symbol does");
    EXPECT(!measure("/dev/null", bytes, 0, &value), "nothing is a program");
}

struct budget {
    bool planned;
    uint32_t arena, peak, tables;
};

static struct budget plan_with(const struct network *network, const struct target *target, struct options options)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct plan_options memory;
    struct plan plan;
    struct budget budget = {0};
    budget.planned = budget_read(&options, network, target, &memory, &arena, &diagnostics) &&
                     budget_plan(network, target, &memory, &plan, &arena, &diagnostics);
    if (budget.planned) {
        EXPECT(plan_check(&plan, &diagnostics), "a wrong plan");
        budget = (struct budget){true, plan.l2_arena_bytes, plan.l2_peak_bytes, table_bytes_of_plan(&plan)};
    } else {
        EXPECT(diagnostics.error_count > 0, "no message");
    }
    arena_free(&arena);
    return budget;
}

static uint32_t input_and_output_bytes(const struct network *network)
{
    const struct tensor *input = &network->tensors[network->inputs[0]], *output = &network->tensors[network->outputs[0]];
    uint32_t input_bytes = (uint32_t)(input->height * input->width * input->channels * input->bits / 8);
    uint32_t output_bytes = (uint32_t)(output->height * output->width * output->channels * output->bits / 8);
    return (input_bytes + 7) / 8 * 8 + (output_bytes + 7) / 8 * 8;
}

static void test_budgets(const char *path)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target;
    uint8_t program[PROGRAM_BYTES];
    uint32_t value;
    EXPECT(target_load(&target, "gap8", &arena, &diagnostics), "built in");
    const struct network *network = share_is_all() ? mobilenet_v1(&arena, 96, 50) : mobilenet_v1(&arena, 32, 25);
    for (uint32_t code = 30000; code < target.l2_bytes; code += share_is_all() ? 61000 : 4 * 61000) {
        make_program(program, "dory_l2_firmware_bytes", code);
        measure(path, program, sizeof program, &value);
        struct options options = {.firmware = path, .application_bytes = 5000};
        struct budget budget = plan_with(network, &target, options);
        EXPECT(!budget.planned || code + 5000 + budget.tables + budget.peak <= target.l2_bytes,
               "code %u, tables %u and arena %u exceed L2", code, budget.tables, budget.peak);
        EXPECT(budget.planned || code > 400000, "no plan beside %u bytes of code", code);
        options.application_bytes = 0;
        struct budget with_default = plan_with(network, &target, options);
        EXPECT(!with_default.planned || with_default.arena + BUDGET_APPLICATION_BYTES - 5000 <= budget.arena + 8000,
               "the default leaves %u, 5000 bytes leave %u", with_default.arena, budget.arena);
    }
    struct options with_buffers = {.application_buffers = true};
    struct options counted_by_hand = {.application_bytes = BUDGET_APPLICATION_BYTES + input_and_output_bytes(network)};
    EXPECT(plan_with(network, &target, with_buffers).arena == plan_with(network, &target, counted_by_hand).arena,
           "the application's buffers are not the network's inputs and outputs");
    struct budget exact = plan_with(network, &target, (struct options){.firmware = path, .l2_bytes = 123456});
    EXPECT(exact.planned && exact.arena == 123456, "--l2-bytes is not the arena, but %u", exact.arena);
    struct budget as_original = plan_with(network, &target, (struct options){.code_reserved_bytes = 124288});
    EXPECT(as_original.arena == 400000, "%u", as_original.arena);
    EXPECT(!plan_with(network, &target, (struct options){.code_reserved_bytes = 600000, .config = "x"}).planned,
           "more than there is can be reserved");
    EXPECT(!plan_with(network, &target, (struct options){.application_bytes = UINT32_MAX}).planned,
           "an application can have more than there is");
    EXPECT(plan_with(network, &target, (struct options){0}).planned, "nothing said, no plan");
    arena_free(&arena);
}

/* Of a plan with a table: layers whose first weights come to L1 beside the layer before, though the plan would only see at
 * their own start that they are in L2; of these, where they only start transfers; and layers that have inputs in L1. */
struct early {
    int seen_before, starting, staying;
};

static struct early early_of(const struct plan *plan)
{
    struct early early = {0};
    for (int i = 0; i < plan->transfer_count; i++) {
        int step = plan->transfers[i].needed_step;
        bool is_early = step > 0 && step < plan->step_count && plan->steps[step].record.weights_are_early;
        early.seen_before += is_early && plan->steps[step - 1].record.transfers_awaited > i;
    }
    for (int i = 0; i < plan->network->layer_count; i++)
        early.staying += plan->layers[i].inputs_stay != 0;
    for (int i = 1; i < plan->step_count; i++) {
        const struct dory_step *step = &plan->steps[i].record;
        early.starting += step->weights_are_early && step->transfers_started > plan->steps[i - 1].record.transfers_started;
    }
    return early;
}

static struct early early_with_table(const struct network *network, uint32_t l2_bytes, struct arena *arena)
{
    struct diagnostics diagnostics = {.arena = arena};
    struct target target;
    struct plan plan;
    struct plan_options memory;
    struct options options = {.l2_bytes = l2_bytes};
    EXPECT(target_load(&target, "gap8", arena, &diagnostics), "built in");
    bool planned = budget_read(&options, network, &target, &memory, arena, &diagnostics) &&
                   budget_plan(network, &target, &memory, &plan, arena, &diagnostics);
    EXPECT(planned && plan.tiles && plan_check(&plan, &diagnostics), "no right plan with a table");
    return planned ? early_of(&plan) : (struct early){0};
}

static void test_early_weights(void)
{
    struct arena arena = {0};
    struct early attention = early_with_table(attention_network(&arena, 3, 13, 10), 40000, &arena),
                 mobilenet = early_with_table(mobilenet_v1(&arena, 32, 25), 60000, &arena),
                 softmax = early_with_table(attention_network(&arena, 4, 67, 32), 200000, &arena);
    EXPECT(attention.seen_before > 0, "no weights from the flash are seen to have come a step before");
    EXPECT(mobilenet.starting > 0, "none are early at a step that starts transfers");
    EXPECT(softmax.staying > 1, "softmax and the product behind it are not one tile each");
    arena_free(&arena);
}

int main(int argc, char **argv)
{
    EXPECT(argc == 2, "usage: test_plan_budget FILE");
    test_programs(argv[1]);
    test_budgets(argv[1]);
    test_early_weights();
    unlink(argv[1]);
    return expect_result("budget");
}
