/* GAP8's link with a model of the ESP32 at the SPI (cmake/gvsoc/cpx_peer.cpp): every size both ways, wrong lengths and
 * versions, a peer that stops, back-pressure, clients that come and go, and a network's worth of work on the cluster beside
 * it. */
#include <string.h>

#include "dory/cpx.h"
#include "dory/hal.h"
#include "expect.h"

enum { SENDS = 6, RECEIVES = 2, POLLS = 4000000 };

static uint8_t frames[CPX_FRAMES_BYTES(SENDS + RECEIVES)] DORY_L2;
static const struct cpx_memory memory = {.frames = frames, .send_count = SENDS, .receive_count = RECEIVES};
static uint8_t data[CPX_DATA_BYTES];

static int tell(char command, uint8_t value, uint16_t size)
{
    const uint8_t bytes[] = {(uint8_t)command, value, (uint8_t)size, (uint8_t)(size >> 8)};
    return cpx_send(CPX_ESP32, CPX_TEST, bytes, sizeof bytes);
}

static int await_packet(struct cpx_packet *packet)
{
    int status = DORY_RUNNING;
    for (uint32_t poll = 0; poll < POLLS && status == DORY_RUNNING; poll++)
        status = cpx_receive(packet);
    return status;
}

static void expect_echo(uint32_t bytes)
{
    struct cpx_packet packet;
    for (uint32_t i = 0; i < bytes; i++)
        data[i] = (uint8_t)(i * 13 + bytes);
    EXPECT_EQUAL(cpx_send(CPX_HOST, CPX_TEST, data, bytes), DORY_OK);
    EXPECT_EQUAL(await_packet(&packet), DORY_OK);
    EXPECT_EQUAL(packet.bytes, bytes);
    EXPECT_THAT(packet.source == CPX_HOST && packet.function == CPX_TEST);
    EXPECT_THAT(packet.bytes == bytes && memcmp(packet.data, data, bytes) == 0);
    cpx_release();
}

static void test_sizes(void)
{
    static const uint16_t sizes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 98, 255, 256, 1000, 1017, 1018, 1019, 1020};
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        expect_echo(sizes[i]);
}

static void expect_sent_packet(uint8_t number, uint32_t bytes)
{
    struct cpx_packet packet;
    uint32_t wrong = 0;
    EXPECT_EQUAL(await_packet(&packet), DORY_OK);
    EXPECT_EQUAL(packet.bytes, bytes);
    for (uint32_t i = 0; i < packet.bytes; i++)
        wrong += packet.data[i] != (uint8_t)(i * 7 + number);
    EXPECT_EQUAL(wrong, 0);
    cpx_release();
}

/* The peer has more than there are places for, and waits; what is sent meanwhile is not lost. */
static void test_back_pressure(void)
{
    EXPECT_EQUAL(tell('s', 10, 600), DORY_OK);
    for (volatile int i = 0; i < 100000; i++)
        ;
    EXPECT_EQUAL(cpx_print("in between\n"), DORY_OK);
    for (uint8_t number = 0; number < 10; number++)
        expect_sent_packet(number, 600);
    EXPECT_EQUAL(cpx_flush(), DORY_OK);
}

static void test_wrong_frames(void)
{
    struct cpx_counts counts;
    EXPECT_EQUAL(tell('l', 0, 0), DORY_OK);
    EXPECT_EQUAL(tell('v', 0, 0), DORY_OK);
    EXPECT_EQUAL(tell('s', 1, 5), DORY_OK);
    expect_sent_packet(0, 5); /* behind them */
    cpx_counts(&counts);
    EXPECT_EQUAL(counts.bad, 2);
}

/* The ESP32's line stays low for longer than the endpoint waits, which here is 3 ms: a status, and nothing is lost when it
 * goes on. */
static void test_a_peer_that_stops(void)
{
    struct cpx_counts before, after;
    EXPECT_EQUAL(tell('q', 12, 0), DORY_OK);
    EXPECT_EQUAL(cpx_flush(), DORY_OK);
    cpx_counts(&before);
    for (int i = 0; i < SENDS; i++)
        EXPECT_EQUAL(cpx_send(CPX_HOST, CPX_APP, data, 8), DORY_OK);
    EXPECT_EQUAL(cpx_send(CPX_HOST, CPX_APP, data, 8), DORY_ERROR_BUSY);
    EXPECT_EQUAL(cpx_flush(), DORY_ERROR_DEVICE);
    EXPECT_EQUAL(cpx_send(CPX_HOST, CPX_APP, data, 8), DORY_ERROR_DEVICE);
    int status = DORY_ERROR_DEVICE;
    for (uint32_t poll = 0; poll < POLLS && status == DORY_ERROR_DEVICE; poll++)
        status = cpx_flush();
    EXPECT_EQUAL(status, DORY_OK);
    cpx_counts(&after);
    EXPECT_EQUAL(after.sent - before.sent, SENDS);
}

static void test_clients(void)
{
    struct cpx_wifi wifi;
    static uint8_t pixels[5000];
    struct cpx_picture picture = {.width = 100, .height = 50, .depth = 1, .pixels = pixels, .bytes = sizeof pixels};
    for (uint32_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * i / 5);
    EXPECT_EQUAL(cpx_picture_send(&picture), DORY_ERROR_CANCELLED);
    EXPECT_EQUAL(tell('c', 1, 0), DORY_OK);
    EXPECT_EQUAL(tell('s', 1, 9), DORY_OK);
    expect_sent_packet(0, 9);
    cpx_wifi(&wifi);
    EXPECT_THAT(wifi.has_client && wifi.clients == 1);
    int status = DORY_RUNNING;
    for (uint32_t poll = 0; poll < POLLS && status == DORY_RUNNING; poll++)
        status = cpx_picture_send(&picture);
    EXPECT_EQUAL(status, DORY_OK);
    EXPECT_EQUAL(cpx_flush(), DORY_OK);
}

/* ---- beside the cluster -------------------------------------------------------------------------------------- */

static volatile uint32_t sums[8];

static void work(void *argument)
{
    (void)argument;
    for (unsigned round = 0; round < 60; round++) {
        uint32_t sum = sums[hal_core_id()];
        for (volatile uint32_t i = 0; i < 100; i++)
            sum += i * round;
        sums[hal_core_id()] = sum;
        hal_barrier();
    }
}

/* Packets go out while the application waits for the cluster, without a call of its own. */
static void test_beside_the_cluster(void)
{
    struct cpx_counts before, after;
    cpx_counts(&before);
    REQUIRE(hal_cluster_open(hal_cluster_maximum_cores()) == DORY_OK);
    for (int i = 0; i < SENDS; i++)
        EXPECT_EQUAL(cpx_send(CPX_HOST, CPX_APP, data, 40), DORY_OK);
    EXPECT_EQUAL(hal_cluster_run(work, NULL), DORY_OK);
    cpx_counts(&after);
    EXPECT_THAT(after.sent - before.sent >= 3);
    for (unsigned core = 1; core < hal_cluster_maximum_cores(); core++)
        EXPECT_EQUAL(sums[core], sums[0]);
    EXPECT_EQUAL(cpx_flush(), DORY_OK);
    EXPECT_EQUAL(hal_cluster_close(), DORY_OK);
}

int main(void)
{
    REQUIRE(cpx_open(&memory) == DORY_OK);
    EXPECT_EQUAL(cpx_print("hello from GAP8\n"), DORY_OK);
    EXPECT_EQUAL(cpx_send_app(CPX_STM32, 3, "\x11\x22\x33", 3), DORY_OK);
    test_sizes();
    test_back_pressure();
    test_wrong_frames();
    test_clients();
    test_beside_the_cluster();
    test_a_peer_that_stops();
    EXPECT_EQUAL(tell('r', 0, 0), DORY_OK);
    EXPECT_EQUAL(cpx_close(), DORY_OK);
    return expect_result("cpx over SPI");
}
