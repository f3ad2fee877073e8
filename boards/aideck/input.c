#include "aideck/input.h"

#include "dory/hal.h"

/* Signed networks take a pixel less 128. */
#define FLIPS (BOARD_MODEL_INPUT_IS_SIGNED ? 0x80 : 0)

/* A frame that is the input counts by its own rows. */
enum {
    ROWS = INPUT_IS_FRAME ? BOARD_HEIGHT : BOARD_MODEL_INPUT_HEIGHT,
    ROW_BYTES = BOARD_MODEL_INPUT_BYTES / ROWS,
};

/* ---- rows of the input from rows of the frame -------------------------------------------------------------------- */

static struct copy {
    const uint32_t *from;
    uint32_t *to;
    uint32_t words;
} copy; /* in L2, where the cluster reaches it */

/* Words by turns. Every core its part: the controller alone would take ten times as long. */
static void copy_pixels(void *argument)
{
    const struct copy pixels = *(const struct copy *)argument;
    const uint32_t cores = hal_core_count();
    for (uint32_t i = hal_core_id(); i < pixels.words; i += cores)
        pixels.to[i] = pixels.from[i] ^ FLIPS * 0x01010101u;
}

static int copy_rows(const uint8_t *frame, uint8_t *to, unsigned first, unsigned rows)
{
    static_assert(BOARD_WIDTH % 4 == 0, "a row is whole words");
    const uint8_t *from = frame + (size_t)first * BOARD_WIDTH;
    copy = (struct copy){(const uint32_t *)(const void *)from, (uint32_t *)(void *)to, rows * (BOARD_WIDTH / 4)};
    return hal_cluster_run(copy_pixels, &copy);
}

static int scale_rows(const uint8_t *frame, uint32_t *l1, uint8_t *to, unsigned first, unsigned rows)
{
    static struct scale scale; /* as above */
    scale = (struct scale){
        .picture = frame + (size_t)PART_TOP * BOARD_WIDTH + PART_LEFT,
        .picture_stride = BOARD_WIDTH,
        .width = PART_WIDTH,
        .height = PART_HEIGHT,
        .result = to,
        .result_width = BOARD_MODEL_INPUT_WIDTH,
        .result_height = BOARD_MODEL_INPUT_HEIGHT,
        .first_row = (uint16_t)first,
        .rows = (uint16_t)rows,
        .pattern = INPUT_PATTERN,
        .flips = FLIPS,
        .l1 = l1,
        .l1_bytes = INPUT_L1_BYTES,
    };
    int status = hal_cluster_run(scale_area, &scale);
    return status ? status : scale.status;
}

static int make_rows(const uint8_t *frame, uint32_t *l1, uint8_t *to, unsigned first, unsigned rows)
{
    return INPUT_IS_FRAME ? copy_rows(frame, to, first, rows) : scale_rows(frame, l1, to, first, rows);
}

/* ---- to where the network reads them ----------------------------------------------------------------------------- */

#if BOARD_MODEL_INPUT_IN_RAM

/* The network's L2 buffer holds nothing between two runs. Of four rows the bytes are a multiple of HAL_L3_ALIGNMENT. */
enum { PIECE_ROWS = BOARD_MODEL_L2_BYTES / ROW_BYTES / 4 * 4 };
static_assert(PIECE_ROWS > 0, "four rows of the input fit into the network's L2 buffer");

static int write_ram(uint8_t *piece, unsigned first, unsigned rows)
{
    const struct hal_l3_copy to_ram = {
        .kind = HAL_RAM_WRITE,
        .l3_address = BOARD_MODEL_INPUT_OFFSET + first * ROW_BYTES,
        .l2 = piece,
        .run_bytes = (rows * ROW_BYTES + HAL_L3_ALIGNMENT - 1) / HAL_L3_ALIGNMENT * HAL_L3_ALIGNMENT,
        .runs = 1,
    };
    hal_l3_ticket ticket;
    int status = hal_l3_start(&to_ram, &ticket);
    return status ? status : hal_l3_wait(ticket);
}

int input_prepare(const uint8_t *frame, uint32_t *l1, uint8_t *network_l2, const uint8_t **input)
{
    int status = DORY_OK;
    *input = NULL; /* it is in RAM */
    for (unsigned first = 0; first < ROWS && status == DORY_OK; first += PIECE_ROWS) {
        unsigned rows = first + PIECE_ROWS < ROWS ? PIECE_ROWS : ROWS - first;
        status = make_rows(frame, l1, network_l2, first, rows);
        status = status ? status : write_ram(network_l2, first, rows);
    }
    return status;
}

#else

int input_prepare(const uint8_t *frame, uint32_t *l1, uint8_t *network_l2, const uint8_t **input)
{
    *input = network_l2 + BOARD_MODEL_INPUT_OFFSET; /* where it is not copied once more */
    return make_rows(frame, l1, network_l2 + BOARD_MODEL_INPUT_OFFSET, 0, ROWS);
}

#endif
