/* A network that writes all of its tensors to the log. Built for one: NETWORK is its name; MEMORY_L1, MEMORY_L2, IMAGE and
 * RESULT name the sizes of its memory, its input and its output. */
#include NETWORK_HEADER
#include "firmware_main.h"

#define JOINED(a, b) a##b
#define NAME(a, b)   JOINED(a, b)

static uint8_t image[IMAGE], output[RESULT];

static int run(struct dory_buffers *buffers)
{
    for (size_t i = 0; i < sizeof image; i++)
        image[i] = (uint8_t)(i * 37 + i / 288 * 5);
    buffers->flash_address = hal_flash_address(NAME(NETWORK, _weights));
    return NAME(NETWORK, _run)(buffers, image, output);
}

int main(void) { return firmware_main((struct dory_buffers){.l1_bytes = MEMORY_L1, .l2_bytes = MEMORY_L2}, run); }
