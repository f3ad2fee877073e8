/* The endpoint with a link of this test's own: queues, back-pressure, strange packets, a peer that stops, clients that go.
 */
#include <string.h>

#include "dory/cpx.h"
#include "expect.h"
#include "link.h"

enum { SENDS = 4, RECEIVES = 2 };

static uint8_t frames[CPX_FRAMES_BYTES(SENDS + RECEIVES)] __attribute__((aligned(4)));
static const struct cpx_memory memory = {.frames = frames, .send_count = SENDS, .receive_count = RECEIVES};

/* ---- a link that sends what it is told to -------------------------------------------------------------------- */

static uint32_t now, may_send, polls_a_millisecond;
static uint8_t last[CPX_FRAME_BYTES];
static uint32_t last_bytes;
static int opens_with;

int cpx_link_open(void) { return opens_with; }

void cpx_link_close(void) {}

void cpx_link_poll(void)
{
    uint32_t bytes;
    static uint32_t polls;
    now += polls_a_millisecond && ++polls % polls_a_millisecond == 0 ? 1 : 0;
    for (; may_send > 0; may_send--) {
        const uint8_t *frame = cpx_link_next(&bytes);
        if (!frame)
            return;
        memcpy(last, frame, bytes);
        last_bytes = bytes;
        cpx_link_sent(0);
    }
}

uint32_t cpx_link_milliseconds(void) { return now; }

uint32_t cpx_link_lock(void) { return 0; }

void cpx_link_unlock(uint32_t locked) { (void)locked; }

static int arrive(enum cpx_target source, enum cpx_target destination, enum cpx_function function, const void *data,
                  uint32_t bytes)
{
    const struct cpx_packet packet = {destination, source, function, 1, data, bytes};
    uint8_t *place = cpx_link_place();
    if (place)
        cpx_link_received(cpx_encode(&packet, place));
    return place != NULL;
}

static struct cpx_counts counts(void)
{
    struct cpx_counts result;
    cpx_counts(&result);
    return result;
}

static void open_endpoint(void)
{
    may_send = polls_a_millisecond = 0;
    REQUIRE(cpx_open(&memory) == DORY_OK);
}

static void close_endpoint(void)
{
    may_send = UINT32_MAX;
    EXPECT_EQUAL(cpx_close(), DORY_OK);
}

/* ---- the tests ------------------------------------------------------------------------------------------------ */

static void test_opening(void)
{
    struct cpx_memory wrong = memory;
    EXPECT_EQUAL(cpx_open(NULL), DORY_ERROR_ARGUMENT);
    wrong.frames++;
    EXPECT_EQUAL(cpx_open(&wrong), DORY_ERROR_ALIGNMENT);
    wrong = memory, wrong.send_count = 0;
    EXPECT_EQUAL(cpx_open(&wrong), DORY_ERROR_ARGUMENT);
    wrong = memory, wrong.receive_count = 0;
    EXPECT_EQUAL(cpx_open(&wrong), DORY_ERROR_ARGUMENT);
    opens_with = DORY_ERROR_DEVICE;
    EXPECT_EQUAL(cpx_open(&memory), DORY_ERROR_DEVICE);
    opens_with = DORY_OK;
    EXPECT_EQUAL(cpx_send(CPX_HOST, CPX_APP, "x", 1), DORY_ERROR_ARGUMENT); /* it is not open */
    EXPECT_EQUAL(cpx_poll(), DORY_ERROR_ARGUMENT);
    open_endpoint();
    EXPECT_EQUAL(cpx_open(&memory), DORY_ERROR_BUSY);
    close_endpoint();
    EXPECT_EQUAL(cpx_close(), DORY_OK);
}

static void test_a_full_queue_says_so(void)
{
    open_endpoint();
    for (uint8_t i = 0; i < SENDS; i++)
        EXPECT_EQUAL(cpx_send(CPX_HOST, CPX_APP, &i, 1), DORY_OK);
    EXPECT_EQUAL(cpx_send(CPX_HOST, CPX_APP, "x", 1), DORY_ERROR_BUSY);
    may_send = 1;
    EXPECT_EQUAL(cpx_send(CPX_HOST, CPX_APP, "x", 1), DORY_OK);
    EXPECT_EQUAL(last_bytes, 5);
    EXPECT_EQUAL(last[4], 0); /* the oldest */
    close_endpoint();
    EXPECT_EQUAL(last[4], 'x');
    EXPECT_EQUAL(counts().sent, SENDS + 1);
}

static void test_a_peer_that_stops(void)
{
    open_endpoint();
    EXPECT_EQUAL(cpx_send(CPX_HOST, CPX_APP, "x", 1), DORY_OK);
    now += 900;
    EXPECT_EQUAL(cpx_poll(), DORY_OK);
    now += 200;
    EXPECT_EQUAL(cpx_poll(), DORY_ERROR_DEVICE);
    for (int i = 1; i < SENDS; i++)
        EXPECT_EQUAL(cpx_send(CPX_HOST, CPX_APP, "x", 1), DORY_OK);
    EXPECT_EQUAL(cpx_send(CPX_HOST, CPX_APP, "x", 1), DORY_ERROR_DEVICE);
    may_send = 1; /* it goes on */
    EXPECT_EQUAL(cpx_poll(), DORY_OK);
    polls_a_millisecond = 10; /* and stops for good: no hang */
    EXPECT_EQUAL(cpx_flush(), DORY_ERROR_DEVICE);
    EXPECT_EQUAL(cpx_close(), DORY_ERROR_DEVICE);
}

static void test_limits(void)
{
    static uint8_t data[CPX_DATA_BYTES + 1];
    open_endpoint();
    may_send = UINT32_MAX;
    EXPECT_EQUAL(cpx_send(CPX_HOST, CPX_APP, data, CPX_DATA_BYTES), DORY_OK);
    EXPECT_EQUAL(last_bytes, CPX_FRAME_BYTES);
    EXPECT_EQUAL(cpx_send(CPX_HOST, CPX_APP, data, CPX_DATA_BYTES + 1), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(cpx_send(CPX_STM32, CPX_APP, data, 98), DORY_OK);
    EXPECT_EQUAL(cpx_send(CPX_STM32, CPX_APP, data, 99), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(cpx_send(CPX_GAP8, CPX_APP, data, 1), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(cpx_send_app(CPX_STM32, 7, data, 97), DORY_OK);
    EXPECT_THAT(last_bytes == 4 + 98 && last[4] == 7);
    EXPECT_EQUAL(cpx_send_app(CPX_STM32, 7, data, 98), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(cpx_wifi_set_name(""), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(cpx_wifi_set_key("short"), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(cpx_wifi_set_key(""), DORY_OK);
    EXPECT_EQUAL(cpx_wifi_connect(1), DORY_OK);
    EXPECT_THAT(last_bytes == 6 && last[2] == (0x40 | 4 << 3 | 2) && last[3] == 4 && last[4] == 0x20 && last[5] == 1);
    close_endpoint();
}

static void test_text(void)
{
    char text[SENDS * CPX_STM32_BYTES + 2];
    memset(text, 'a', sizeof text);
    open_endpoint();
    text[sizeof text - 1] = '\0';
    EXPECT_EQUAL(cpx_print(text), DORY_ERROR_ARGUMENT); /* never */
    text[2 * CPX_STM32_BYTES + 1] = '\0';
    EXPECT_EQUAL(cpx_print(text), DORY_OK); /* three packets */
    EXPECT_EQUAL(cpx_print(text), DORY_ERROR_BUSY);
    EXPECT_EQUAL(cpx_print("end"), DORY_OK);
    may_send = 3;
    cpx_poll();
    EXPECT_THAT(last_bytes == 5 && last[3] == 2 && (last[2] & 0x40) != 0);
    close_endpoint();
    EXPECT_EQUAL(counts().sent, 4);
}

static void test_receiving(void)
{
    struct cpx_packet packet;
    open_endpoint();
    EXPECT_EQUAL(cpx_receive(&packet), DORY_RUNNING);
    EXPECT_THAT(arrive(CPX_HOST, CPX_GAP8, CPX_APP, "one", 3));
    EXPECT_THAT(arrive(CPX_STM32, CPX_GAP8, CPX_APP, "two", 3));
    EXPECT_THAT(!arrive(CPX_STM32, CPX_GAP8, CPX_APP, "three", 5)); /* the peer has to wait */
    EXPECT_EQUAL(cpx_receive(&packet), DORY_OK);
    EXPECT_THAT(packet.source == CPX_HOST && packet.bytes == 3 && memcmp(packet.data, "one", 3) == 0);
    cpx_release();
    EXPECT_THAT(arrive(CPX_STM32, CPX_GAP8, CPX_APP, "three", 5));
    EXPECT_EQUAL(cpx_receive(&packet), DORY_OK);
    EXPECT_BYTES(packet.data, "two", 3);
    cpx_release();
    EXPECT_EQUAL(cpx_receive(&packet), DORY_OK);
    cpx_release();
    cpx_release(); /* once more than there is */
    EXPECT_EQUAL(cpx_receive(&packet), DORY_RUNNING);
    close_endpoint();
}

static void test_strange_packets(void)
{
    struct cpx_packet packet;
    open_endpoint();
    EXPECT_THAT(arrive(CPX_STM32, CPX_GAP8, CPX_BOOTLOADER, "v", 1));
    EXPECT_THAT(arrive(CPX_STM32, CPX_HOST, CPX_APP, "v", 1));
    EXPECT_THAT(arrive(CPX_ESP32, CPX_GAP8, CPX_WIFI_CONTROL, "v", 1));
    EXPECT_EQUAL(counts().strange, 3);
    memset(cpx_link_place(), 0xFF, CPX_FRAME_BYTES);
    cpx_link_received(CPX_FRAME_BYTES);
    cpx_link_received(0);
    EXPECT_EQUAL(counts().bad, 2);
    EXPECT_EQUAL(cpx_receive(&packet), DORY_RUNNING);
    close_endpoint();
}

static void test_a_deaf_application(void)
{
    struct cpx_memory deaf = memory;
    struct cpx_packet packet;
    deaf.is_deaf = 1;
    REQUIRE(cpx_open(&deaf) == DORY_OK);
    for (int i = 0; i < 3 * RECEIVES; i++)
        EXPECT_THAT(arrive(CPX_HOST, CPX_GAP8, CPX_APP, "x", 1));
    EXPECT_EQUAL(cpx_receive(&packet), DORY_RUNNING);
    EXPECT_EQUAL(counts().received, 3 * RECEIVES);
    close_endpoint();
}

static void connect_client(uint8_t is_connected)
{
    const uint8_t control[] = {0x32, is_connected};
    EXPECT_THAT(arrive(CPX_ESP32, CPX_GAP8, CPX_WIFI_CONTROL, control, sizeof control));
}

static void test_wifi(void)
{
    struct cpx_wifi wifi;
    open_endpoint();
    EXPECT_THAT(arrive(CPX_ESP32, CPX_GAP8, CPX_WIFI_CONTROL, "\x31\xC0\xA8\x04\x01", 5));
    connect_client(1);
    connect_client(0);
    connect_client(1);
    cpx_wifi(&wifi);
    EXPECT_THAT(memcmp(wifi.address, "\xC0\xA8\x04\x01", 4) == 0 && wifi.has_client && wifi.clients == 2);
    close_endpoint();
}

static void test_pictures(void)
{
    static uint8_t pixels[2 * CPX_DATA_BYTES + 7];
    struct cpx_picture picture = {.width = 29, .height = 71, .depth = 1, .pixels = pixels, .bytes = sizeof pixels};
    open_endpoint();
    EXPECT_EQUAL(cpx_picture_send(&picture), DORY_ERROR_CANCELLED); /* nobody looks */
    connect_client(1);
    may_send = 1;
    EXPECT_EQUAL(cpx_picture_send(&picture),
                 DORY_OK); /* a header, which is sent, and three parts for three of four places */
    static const uint8_t header[] = {13, 0, 0x23, 5, 0xBC, 29, 0, 71, 0, 1, 0, 0xFF, 0x07, 0, 0};
    EXPECT_EQUAL(last_bytes, sizeof header);
    EXPECT_BYTES(last, header, sizeof header);
    EXPECT_EQUAL(cpx_send(CPX_STM32, CPX_APP, NULL, 0), DORY_OK); /* the fourth is for others */
    may_send = 2;
    cpx_poll();
    struct cpx_picture second = {.width = 1, .height = 1, .depth = 1, .pixels = pixels, .bytes = sizeof pixels};
    EXPECT_EQUAL(cpx_picture_send(&second), DORY_RUNNING); /* the header alone */
    connect_client(0);
    connect_client(1);
    EXPECT_EQUAL(cpx_picture_send(&second), DORY_ERROR_CANCELLED);
    close_endpoint();
    EXPECT_EQUAL(counts().sent, 5); /* with the part that was under way perhaps, and the others' */
    EXPECT_EQUAL(counts().lost, 1); /* the second header: it is for no one */
}

int main(void)
{
    test_opening();
    test_a_full_queue_says_so();
    test_a_peer_that_stops();
    test_limits();
    test_text();
    test_receiving();
    test_strange_packets();
    test_a_deaf_application();
    test_wifi();
    test_pictures();
    return expect_result("cpx endpoint");
}
