/* Camera, scaling, network, result, in a loop: the shape of a real application.
 *
 * Frames have two buffers. While one is scaled and its image goes through the network, the camera's uDMA fills the other; as
 * soon as a frame is scaled, its buffer may take the frame after the next. The answer is printed while the network has the
 * next image. LOOPS says how often this is done for FRAMES frames; then once more with one thing after the other, for
 * comparison.
 *
 * L1 is the application's. It lends it to the network from digits_start to the end that digits_wait reports, and has it back
 * then: bands of the picture lie in the very bytes that the network works in afterwards. */
#include <stdio.h>

#include "aideck/board.h"
#include "aideck/scale.h"
#include "common/app.h"
#include "digits.h"
#include "dory/hal.h"

#define LEFT    ((BOARD_WIDTH - BOARD_HEIGHT) / 2) /* the square in the middle */
#define CLASSES (DIGITS_OUTPUT_BYTES / sizeof(int32_t))

static union {
    uint8_t network[DIGITS_L1_BYTES];
    uint32_t scaling[SCALE_L1_BYTES(BOARD_HEIGHT, BOARD_HEIGHT, DIGITS_INPUT_WIDTH, DIGITS_INPUT_HEIGHT) / 4];
} l1 DORY_L1;

static uint8_t l2[DIGITS_L2_BYTES] DORY_L2;
static uint8_t frames[2][BOARD_BYTES] DORY_L2;
static uint8_t image[DIGITS_INPUT_BYTES] DORY_L2;
static int32_t logits[CLASSES] DORY_L2;
static struct dory_job job DORY_FC;

/* Where the controller's time goes between the first frame's arrival and the last one's. */
static struct times {
    uint32_t capture, scale, run, print, start, all;
} times, measured;

static void add_time(uint32_t *part, uint32_t *since)
{
    uint32_t now = hal_cycles();
    *part += now - *since;
    *since = now;
}

/* ---- one frame -------------------------------------------------------------------------------------------------- */

#ifdef SHOW_PIXELS /* what was captured and what became of it, for a comparison */
static void show(const char *name, unsigned number, const uint8_t *pixels, unsigned width, unsigned height)
{
    static const char digits[] = "0123456789abcdef";
    char text[2 * BOARD_WIDTH + 1];
    board_await_print(); /* it may share the terminal */
    for (unsigned row = 0; row < height; row++) {
        for (unsigned column = 0; column < width; column++) {
            text[2 * column] = digits[pixels[row * width + column] >> 4];
            text[2 * column + 1] = digits[pixels[row * width + column] & 15];
        }
        text[2 * width] = '\0';
        printf("%s %u %s\n", name, number, text);
    }
}
#else
static void show(const char *name, unsigned number, const uint8_t *pixels, unsigned width, unsigned height)
{
    (void)name, (void)number, (void)pixels, (void)width, (void)height;
}
#endif

static int scale_frame(const uint8_t *frame)
{
    static struct scale scale; /* static: in L2, where the cluster reaches it */
    scale = (struct scale){
        .picture = frame + LEFT,
        .picture_stride = BOARD_WIDTH,
        .width = BOARD_HEIGHT,
        .height = BOARD_HEIGHT,
        .result = image,
        .result_width = DIGITS_INPUT_WIDTH,
        .result_height = DIGITS_INPUT_HEIGHT,
        .rows = DIGITS_INPUT_HEIGHT,
        .pattern = SCALE_GREY,
        .l1 = l1.scaling,
        .l1_bytes = sizeof l1.scaling,
    };
    int status = hal_cluster_run(scale_area, &scale);
    return status ? status : scale.status;
}

static void mark_arrival(unsigned number, uint32_t now)
{
    if (number == 0) {
        times = (struct times){.start = now};
    } else if (number == FRAMES - 1) {
        measured = times;
        measured.all = now - times.start;
    }
}

static int take_frame(unsigned number)
{
    uint8_t *frame = frames[number % 2];
    uint32_t since = hal_cycles();
    int status = board_await_capture();
    add_time(&times.capture, &since);
    mark_arrival(number, since);
    show("frame", number, frame, BOARD_WIDTH, BOARD_HEIGHT);
    if (status == DORY_OK)
        status = scale_frame(frame);
    add_time(&times.scale, &since);
    show("image", number, image, DIGITS_INPUT_WIDTH, DIGITS_INPUT_HEIGHT);
    return status;
}

static int print_answer(unsigned number)
{
    char text[64];
    uint32_t since = hal_cycles();
    unsigned answer = app_best_class(logits, CLASSES);
    snprintf(text, sizeof text, "frame %u: a %u, logit %d\n", number, answer, (int)logits[answer]);
    int status = board_print(text);
    add_time(&times.print, &since);
    return status;
}

static int start_network(void)
{
    const struct dory_buffers buffers = {
        .l1 = &l1,
        .l1_bytes = sizeof l1,
        .l2 = l2,
        .l2_bytes = sizeof l2,
        .flash_address = hal_flash_address(digits_weights),
    };
    uint32_t since = hal_cycles();
    int status = digits_start(&job, &buffers, image, logits);
    add_time(&times.run, &since);
    return status;
}

static int await_network(void)
{
    uint32_t since = hal_cycles();
    int status = digits_wait(&job);
    add_time(&times.run, &since);
    return status;
}

/* ---- the loops --------------------------------------------------------------------------------------------------- */

/* The answer to the frame before is printed beside the network: logits change only when its end is reported. A capture is
 * always one ahead; `more` says whether the frame after the next is still wanted. */
static int overlap_frame(unsigned number, int more)
{
    int status = take_frame(number);
    if (status == DORY_OK && more)
        status = board_start_capture(frames[number % 2]);
    if (status == DORY_OK)
        status = start_network();
    if (status != DORY_OK)
        return status;
    int printed = number > 0 ? print_answer(number - 1) : DORY_OK;
    status = await_network();
    return status ? status : printed;
}

static int overlap_frames(unsigned count)
{
    int status = board_start_capture(frames[0]);
    if (status == DORY_OK && count > 1)
        status = board_start_capture(frames[1]);
    for (unsigned number = 0; number < count && status == DORY_OK; number++)
        status = overlap_frame(number, number + 2 < count);
    if (status == DORY_OK)
        status = print_answer(count - 1);
    board_await_print();
    return status;
}

static int frame_in_turn(unsigned number)
{
    int status = board_start_capture(frames[number % 2]);
    if (status == DORY_OK)
        status = take_frame(number);
    if (status == DORY_OK)
        status = start_network();
    if (status == DORY_OK)
        status = await_network();
    if (status == DORY_OK)
        status = print_answer(number);
    uint32_t since = hal_cycles();
    board_await_print();
    add_time(&times.print, &since);
    return status;
}

static int frames_in_turn(unsigned count)
{
    int status = DORY_OK;
    for (unsigned number = 0; number < count && status == DORY_OK; number++)
        status = frame_in_turn(number);
    return status;
}

static int report_times(const char *name)
{
    char text[160];
    if (board_hertz() == 0)
        return DORY_OK;
    unsigned count = FRAMES - 1,
             rate = (unsigned)((uint64_t)count * 100 * board_hertz() / measured.all); /* in 100 seconds */
    snprintf(text, sizeof text, "%s: %u.%02u frames a second; cycles a frame: %u, capture %u, scale %u, run %u, print %u\n",
             name, rate / 100, rate % 100, (unsigned)measured.all / count, (unsigned)measured.capture / count,
             (unsigned)measured.scale / count, (unsigned)measured.run / count, (unsigned)measured.print / count);
    return board_print(text);
}

static int watch_and_report(const char *name, int (*loop)(unsigned count))
{
    int status = loop(FRAMES);
    return status ? status : report_times(name);
}

static int watch(void)
{
    const struct board_camera camera = {0};
    int status = board_open(&camera);
    for (unsigned loop = 0; loop < LOOPS && status == DORY_OK; loop++)
        status = watch_and_report("overlapped", overlap_frames);
#ifdef SHOW_PIXELS
    board_await_print();
    printf("in turn begins\n");
#endif
    if (status == DORY_OK)
        status = watch_and_report("in turn", frames_in_turn);
    int closed = board_close();
    return status ? status : closed;
}

int main(void) { return app_main(watch); }
