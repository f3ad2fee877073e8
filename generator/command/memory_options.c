/* How much memory the network gets, as the command line says it. */
#include "command/memory_options.h"

#include <inttypes.h>

#include "command/firmware.h"
#include "dory/hal.h"
#include "values/expected.h"

bool options_target(const struct options *options, struct target *target, struct arena *arena,
                    struct diagnostics *diagnostics)
{
    return target_load(target, options->target, arena, diagnostics) &&
           (!options->clocks || target_set_clocks(target, options->controller_mhz, options->cluster_mhz, diagnostics));
}

static bool reserve_as_original(const struct options *options, const struct target *target, struct plan_options *plan,
                                struct diagnostics *diagnostics)
{
    if (options->code_reserved_bytes >= target->l2_bytes) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "%s reserves %" PRIu32 " B of L2 for code; %s has %" PRIu32 " B",
                 options->config, options->code_reserved_bytes, target->name, target->l2_bytes);
        return false;
    }
    plan->l2_bytes = target->l2_bytes - options->code_reserved_bytes;
    return true;
}

/* DORY_L2 of hal.h puts every buffer at a multiple of DORY_ALIGNMENT. */
static uint64_t buffer_bytes(const struct network *network, const int *tensors, int count)
{
    uint64_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += ((uint64_t)expected_tensor_bytes(&network->tensors[tensors[i]]) + DORY_ALIGNMENT - 1) / DORY_ALIGNMENT *
                 DORY_ALIGNMENT;
    return bytes;
}

static uint64_t own_buffer_bytes(const struct options *options, const struct network *network)
{
    if (!options->application_buffers || options->application_bytes)
        return 0;
    return buffer_bytes(network, network->inputs, network->input_count) +
           buffer_bytes(network, network->outputs, network->output_count);
}

static uint32_t application_bytes(const struct options *options, const struct network *network)
{
    if (options->application_bytes)
        return options->application_bytes;
    uint64_t bytes = BUDGET_APPLICATION_BYTES + own_buffer_bytes(options, network);
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

void budget_explain(const struct options *options, const struct network *network, struct diagnostics *diagnostics)
{
    uint64_t bytes = own_buffer_bytes(options, network);
    if (bytes == 0 || options->l2_bytes || options->code_reserved_bytes)
        return;
    diagnose(diagnostics, SEVERITY_NOTE, NULL, NULL,
             "%" PRIu64 " bytes of L2 are counted for the application's own buffers of the network's inputs and outputs; an "
             "application without such buffers gives its share as APPLICATION_L2_BYTES of dory_add_network, or "
             "--application-bytes",
             bytes);
}

/* A machine that reads flash where it lies needs no copy of the weights. */
static enum plan_weights weights_place(const struct options *options, const struct target *target)
{
    return !options->weights && target->constants_in_flash ? WEIGHTS_LINKED : options->weights_place;
}

bool budget_read(const struct options *options, const struct network *network, const struct target *target,
                 struct plan_options *plan, struct arena *arena, struct diagnostics *diagnostics)
{
    uint32_t application = application_bytes(options, network);
    uint32_t code = target->l2_firmware_bytes;
    *plan = (struct plan_options){.weights = weights_place(options, target),
                                  .blocks = options->blocks_use,
                                  .l1_bytes = options->l1_bytes,
                                  .l2_bytes = options->l2_bytes,
                                  .cores = options->cores,
                                  .more_walks = options->more_walks,
                                  .tensors_in_ram = options->tensors_in_ram};
    if (!plan_options_check(plan, target, diagnostics))
        return false;
    if (options->firmware && !firmware_l2_bytes(options->firmware, &code, arena, diagnostics))
        return false; /* also where its size does not count */
    if (options->l2_bytes)
        return true;
    if (options->code_reserved_bytes)
        return reserve_as_original(options, target, plan, diagnostics);
    plan->l2_application_bytes = application;
    plan->l2_firmware_bytes = code < UINT32_MAX - application ? code + application : UINT32_MAX;
    if (plan->l2_firmware_bytes < target->l2_bytes)
        return true;
    diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
             "nothing of L2 is left for the network: code takes %" PRIu32 " bytes, the application %" PRIu32
             ", %s has %" PRIu32,
             code, application, target->name, target->l2_bytes);
    return false;
}
