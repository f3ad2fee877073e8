/* HM01B0: registers by I2C, pixels by the camera parallel interface (CPI).
 *
 * The CPI drops what comes while no capture is queued, but for a few bytes in a FIFO in front of it, which the next capture
 * would begin with. So it is off while none is queued: switching it off empties the FIFO, and switched on, it begins with a
 * frame. Two captures in the uDMA's queue follow one another without that. */
#include "dory/gap8_camera.h"

#include "chip.h"
#include "dory/gap8_clocks.h"

#define SENSOR_ADDRESS 0x24u
#define SENSOR_MODEL   0x01B0u
#define I2C_HERTZ      200000u /* the sensor's limit is 400 kHz */

/* Registers of the sensor. */
enum {
    MODEL_HIGH = 0x0000,
    MODEL_LOW = 0x0001,
    MODE = 0x0100,
    ORIENTATION = 0x0101, /* bit 0: mirrored, bit 1: flipped */
    RESET = 0x0103,
    TAKE_OVER = 0x0104,     /* what was written counts from the next frame on */
    EXPOSURE_HIGH = 0x0202, /* in lines */
    EXPOSURE_LOW = 0x0203,
    GAIN = 0x0205, /* its logarithm to base 2, from bit 4 on */
    FRAME_LINES_HIGH = 0x0340,
    FRAME_LINES_LOW = 0x0341,
    LINE_CLOCKS_HIGH = 0x0342,
    LINE_CLOCKS_LOW = 0x0343,
    SKIP_COLUMNS = 0x0383, /* 1: none */
    SKIP_ROWS = 0x0387,
    BINNING = 0x0390,
    SYNC_SHIFT = 0x1012, /* else the first two pixels of a row are none */
    AUTO_EXPOSURE = 0x2100,
    WINDOW = 0x3010,   /* 0: all 324 columns */
    SIX_BITS = 0x3011, /* 0x70: off */
    PORT_BITS = 0x3059,
    PIXEL_CLOCK = 0x3068
};
enum { STANDBY = 0, STREAMING = 1 };

struct setting {
    uint16_t number;
    uint8_t value;
};

/* 30 frames a second of a 6 MHz pixel clock, which is the sensor's own oscillator's: 376 clocks a line, 532 lines a frame.
 */
#define FRAME_LINES 532
static const struct setting settings[] = {
    {FRAME_LINES_HIGH, FRAME_LINES >> 8},
    {FRAME_LINES_LOW, FRAME_LINES & 0xFF},
    {LINE_CLOCKS_HIGH, 376 >> 8},
    {LINE_CLOCKS_LOW, 376 & 0xFF},
    {SKIP_COLUMNS, 1},
    {SKIP_ROWS, 1},
    {BINNING, 0},
    {SYNC_SHIFT, 1},
    {AUTO_EXPOSURE, 1},
    {WINDOW, 0},
    {SIX_BITS, 0x70},
    {PORT_BITS, 0x02}, /* eight data lines */
    {PIXEL_CLOCK, 0x20},
    {TAKE_OVER, 1},
};

static struct {
    unsigned i2c;
    unsigned started, waited; /* captures */
} camera;

/* The uDMA reads and writes L2 only. */
static uint8_t commands[24] __attribute__((aligned(4)));
static volatile uint32_t received;

/* ---- I2C --------------------------------------------------------------------------------------------------- */

#define POLLS_PER_SECOND (gap8_clocks.fc_hertz / 16) /* at least so many cycles each */

/* A channel's transfers are complete, or a tenth of a second has passed: DORY_ERROR_DEVICE. */
static int await_channel(volatile struct pulp_udma_channel *channel)
{
    for (uint32_t polls = POLLS_PER_SECOND / 10; polls > 0; polls--)
        if (!(channel->control & PULP_UDMA_ENABLE))
            return DORY_OK;
    return DORY_ERROR_DEVICE;
}

static void queue(volatile struct pulp_udma_channel *channel, const volatile void *l2, uint32_t bytes, uint32_t options)
{
    __asm__ volatile("" : : : "memory");
    channel->address = (uint32_t)(uintptr_t)l2;
    channel->bytes = bytes;
    channel->control = PULP_UDMA_ENABLE | options;
}

static uint32_t put_clock(uint8_t *to)
{
    uint32_t quarter = gap8_clocks.fc_hertz / (4 * I2C_HERTZ);
    to[0] = GAP8_I2C_CLOCK;
    to[1] = (uint8_t)(quarter >> 8);
    to[2] = (uint8_t)quarter;
    return 3;
}

/* A start, and the bytes behind it. */
static uint32_t put_message(uint8_t *to, const uint8_t *bytes, uint32_t count)
{
    uint32_t length = 0;
    to[length++] = GAP8_I2C_START;
    for (uint32_t i = 0; i < count; i++) {
        to[length++] = GAP8_I2C_WRITE;
        to[length++] = bytes[i];
    }
    return length;
}

int gap8_camera_write(uint16_t sensor_register, uint8_t value)
{
    const uint8_t message[] = {SENSOR_ADDRESS << 1, (uint8_t)(sensor_register >> 8), (uint8_t)sensor_register, value};
    uint32_t length = put_clock(commands);
    length += put_message(commands + length, message, sizeof message);
    commands[length++] = GAP8_I2C_STOP;
    queue(&GAP8_I2C[camera.i2c].send, commands, length, 0);
    return await_channel(&GAP8_I2C[camera.i2c].send);
}

int gap8_camera_read(uint16_t sensor_register, uint8_t *value)
{
    const uint8_t message[] = {SENSOR_ADDRESS << 1, (uint8_t)(sensor_register >> 8), (uint8_t)sensor_register};
    const uint8_t answer[] = {SENSOR_ADDRESS << 1 | 1};
    uint32_t length = put_clock(commands);
    length += put_message(commands + length, message, sizeof message);
    length += put_message(commands + length, answer, sizeof answer);
    commands[length++] = GAP8_I2C_READ_LAST;
    commands[length++] = GAP8_I2C_STOP;
    queue(&GAP8_I2C[camera.i2c].receive, &received, 1, 0);
    queue(&GAP8_I2C[camera.i2c].send, commands, length, 0);
    int status = await_channel(&GAP8_I2C[camera.i2c].receive);
    if (status == DORY_OK)
        status = await_channel(&GAP8_I2C[camera.i2c].send);
    *value = (uint8_t)received;
    return status;
}

/* ---- the sensor -------------------------------------------------------------------------------------------- */

static int check_model(void)
{
    uint8_t high = 0, low = 0;
    int status = gap8_camera_read(MODEL_HIGH, &high);
    if (status == DORY_OK)
        status = gap8_camera_read(MODEL_LOW, &low);
    if (status == DORY_OK && (high << 8 | low) == SENSOR_MODEL)
        return DORY_OK;
    hal_log("dory hal: no HM01B0 answers at this I2C controller\n");
    return DORY_ERROR_DEVICE;
}

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

static int write_settings(const struct setting *values, unsigned count)
{
    int status = DORY_OK;
    for (unsigned i = 0; i < count && status == DORY_OK; i++)
        status = gap8_camera_write(values[i].number, values[i].value);
    return status;
}

int gap8_camera_orient(int is_mirrored, int is_flipped)
{
    const struct setting values[] = {{ORIENTATION, (uint8_t)((is_mirrored ? 1 : 0) | (is_flipped ? 2 : 0))}, {TAKE_OVER, 1}};
    return write_settings(values, COUNT(values));
}

int gap8_camera_expose(uint32_t lines, uint32_t gain)
{
    uint32_t logarithm = 0;
    while (logarithm < 3 && 1u << logarithm < gain)
        logarithm++;
    if (lines == 0) {
        const struct setting automatic[] = {{AUTO_EXPOSURE, 1}, {TAKE_OVER, 1}};
        return write_settings(automatic, COUNT(automatic));
    }
    if (lines < 2 || lines > FRAME_LINES - 2 || 1u << logarithm != gain)
        return DORY_ERROR_ARGUMENT;
    const struct setting values[] = {
        {AUTO_EXPOSURE, 0},
        {EXPOSURE_HIGH, (uint8_t)(lines >> 8)},
        {EXPOSURE_LOW, (uint8_t)lines},
        {GAIN, (uint8_t)(logarithm << 4)},
        {TAKE_OVER, 1},
    };
    return write_settings(values, COUNT(values));
}

static void set_up_interfaces(void)
{
    *GAP8_UDMA_CLOCK_GATE |= 1u << GAP8_CPI_CLOCK_BIT | 1u << (GAP8_I2C_CLOCK_BIT + camera.i2c);
    GAP8_CPI->control = GAP8_CPI_BYTES_AS_IS;
    GAP8_CPI->row = (GAP8_CAMERA_WIDTH / 2 - 1) << 16;
}

int gap8_camera_open(enum gap8_camera_board board)
{
    if (board != GAP8_CAMERA_AI_DECK && board != GAP8_CAMERA_GAPUINO)
        return DORY_ERROR_ARGUMENT;
    camera.i2c = board;
    camera.started = camera.waited = 0;
    set_up_interfaces();
    int status = check_model();
    if (status == DORY_OK)
        status = gap8_camera_write(RESET, 1);
    if (status == DORY_OK)
        status = write_settings(settings, COUNT(settings));
    return status ? status : gap8_camera_write(MODE, STREAMING);
}

int gap8_camera_close(void)
{
    GAP8_CPI->control = GAP8_CPI_BYTES_AS_IS;
    GAP8_CPI->receive.control = PULP_UDMA_CLEAR;
    camera.waited = camera.started;
    return gap8_camera_write(MODE, STANDBY);
}

/* ---- frames ------------------------------------------------------------------------------------------------ */

unsigned gap8_camera_captures(void)
{
    uint32_t control = GAP8_CPI->receive.control;
    return (control & PULP_UDMA_ENABLE ? 1u : 0u) + (control & PULP_UDMA_PENDING ? 1u : 0u);
}

/* The CPI sees it with the sensor's clock, two pixels later; a read takes some ten cycles. */
static void switch_off(void)
{
    GAP8_CPI->control = GAP8_CPI_BYTES_AS_IS;
    for (int reads = 0; reads < 16; reads++)
        (void)GAP8_CPI->control;
}

int gap8_camera_start(uint8_t *frame)
{
    unsigned under_way = gap8_camera_captures();
    if (!frame || under_way == 2 || camera.started - camera.waited == 2)
        return DORY_ERROR_ARGUMENT;
    if ((uintptr_t)frame % 4)
        return DORY_ERROR_ALIGNMENT;
    if (under_way == 0)
        switch_off();
    queue(&GAP8_CPI->receive, frame, GAP8_CAMERA_BYTES, PULP_UDMA_PAIRS);
    GAP8_CPI->control = GAP8_CPI_BYTES_AS_IS | GAP8_CPI_ENABLE;
    camera.started++;
    return DORY_OK;
}

int gap8_camera_wait(void)
{
    unsigned behind = camera.started - camera.waited;
    if (behind == 0)
        return DORY_ERROR_ARGUMENT;
    for (uint32_t polls = POLLS_PER_SECOND; polls > 0; polls--) {
        if (gap8_camera_captures() < behind) {
            camera.waited++;
            __asm__ volatile("" : : : "memory"); /* the frame may be read from here on */
            return DORY_OK;
        }
    }
    return DORY_ERROR_DEVICE;
}
