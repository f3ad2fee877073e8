/* A network whose layers take turns, observed by the application, while its tensors go to the log. */
#include "blocked.h"
#include "firmware_main.h"

static uint8_t picture[BLOCKED_INPUT_BYTES];
static int32_t output[BLOCKED_OUTPUT_BYTES / 4];

/* Turns, and rows of the first layer of a block, which must come in order. */
struct seen {
    unsigned turns, layers, next_row;
    bool in_order;
};

static int see_turn(void *user, const struct dory_buffers *buffers, const struct dory_step *steps, unsigned count)
{
    struct seen *seen = user;
    (void)buffers;
    seen->turns++;
    for (unsigned i = 0; i < count && steps->layer_number == 1; i++) {
        seen->in_order = seen->in_order && steps[i].first_row == seen->next_row;
        seen->next_row = (unsigned)steps[i].first_row + steps[i].rows;
    }
    return DORY_OK;
}

static int see_layer(void *user, const struct dory_buffers *buffers, unsigned layer)
{
    struct seen *seen = user;
    (void)buffers;
    return layer == seen->layers++ ? DORY_OK : DORY_ERROR_MISMATCH;
}

static int run(struct dory_buffers *buffers)
{
    struct seen seen = {.in_order = true};
    buffers->flash_address = hal_flash_address(blocked_weights);
    buffers->observe = see_layer;
    buffers->observe_turn = see_turn;
    buffers->user = &seen;
    for (unsigned i = 0; i < sizeof picture; i++)
        picture[i] = (uint8_t)(i * 37 + 11);
    int status = blocked_run(buffers, picture, output);
    bool all = seen.layers == blocked_network.layer_count && seen.in_order &&
               seen.next_row == blocked_network.steps[1].layer->output_height;
    hal_log(seen.turns > seen.layers && all ? "turns were seen\n" : "turns were not seen\n");
    return status;
}

int main(void)
{
    return firmware_main((struct dory_buffers){.l1_bytes = BLOCKED_L1_BYTES, .l2_bytes = BLOCKED_L2_BYTES}, run);
}
