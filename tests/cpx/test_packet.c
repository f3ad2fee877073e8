/* Packets on the wire: known bytes, what is no packet, and a million random packets in random pieces. */
#include <string.h>

#include "dory/cpx.h"
#include "expect.h"
#include "share.h"

#ifndef PACKETS
#define PACKETS 1000000u
#endif

static uint64_t state = 88172645463325252u;

static uint32_t random_below(uint32_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32) % limit;
}

static void test_known_bytes(void)
{
    static const uint8_t expected[] = {0x07, 0x00, 0x61, 0x05, 'h', 'e', 'l', 'l', 'o'};
    const struct cpx_packet packet = {CPX_STM32, CPX_GAP8, CPX_APP, 1, (const uint8_t *)"hello", 5};
    uint8_t frame[CPX_FRAME_BYTES];
    struct cpx_packet decoded;
    EXPECT_EQUAL(cpx_encode(&packet, frame), sizeof expected);
    EXPECT_BYTES(frame, expected, sizeof expected);
    EXPECT_EQUAL(cpx_decode(frame, sizeof expected, &decoded), DORY_OK);
    EXPECT_THAT(decoded.destination == CPX_STM32 && decoded.source == CPX_GAP8 && decoded.function == CPX_APP);
    EXPECT_THAT(decoded.is_last && decoded.bytes == 5 && decoded.data == frame + 4);
}

static void test_what_is_no_packet(void)
{
    uint8_t frame[CPX_FRAME_BYTES] = {2, 0, 0x61, 5};
    struct cpx_packet packet;
    EXPECT_EQUAL(cpx_decode(frame, 4, &packet), DORY_OK);
    EXPECT_EQUAL(cpx_decode(frame, 3, &packet), DORY_ERROR_PACKET);
    EXPECT_EQUAL(cpx_decode(frame, 0, &packet), DORY_ERROR_PACKET);
    frame[0] = 1; /* no room for the header */
    EXPECT_EQUAL(cpx_decode(frame, 1024, &packet), DORY_ERROR_PACKET);
    frame[0] = 3; /* longer than what is there */
    EXPECT_EQUAL(cpx_decode(frame, 4, &packet), DORY_ERROR_PACKET);
    frame[0] = 0xFE, frame[1] = 3; /* 1022, the longest */
    EXPECT_EQUAL(cpx_decode(frame, 1024, &packet), DORY_OK);
    frame[0] = 0xFF;
    EXPECT_EQUAL(cpx_decode(frame, 1026, &packet), DORY_ERROR_PACKET);
    frame[0] = 2, frame[1] = 0, frame[3] = 0x45; /* version 1 */
    EXPECT_EQUAL(cpx_decode(frame, 4, &packet), DORY_ERROR_PACKET);
    frame[3] = 5, frame[2] = 0x20; /* to target 0 */
    EXPECT_EQUAL(cpx_decode(frame, 4, &packet), DORY_ERROR_PACKET);
    frame[2] = 0x29 | 0x10; /* from target 7 */
    EXPECT_EQUAL(cpx_decode(frame, 4, &packet), DORY_ERROR_PACKET);
    EXPECT_EQUAL(cpx_decode(NULL, 4, &packet), DORY_ERROR_ARGUMENT);
}

static void test_what_cannot_be_sent(void)
{
    uint8_t frame[CPX_FRAME_BYTES];
    struct cpx_packet packet = {CPX_STM32, CPX_GAP8, CPX_APP, 1, NULL, 0};
    EXPECT_EQUAL(cpx_encode(&packet, frame), 4);
    packet.bytes = 1;
    EXPECT_EQUAL(cpx_encode(&packet, frame), 0);
    packet.data = frame, packet.bytes = CPX_DATA_BYTES + 1;
    EXPECT_EQUAL(cpx_encode(&packet, frame), 0);
    packet.bytes = 0, packet.destination = (enum cpx_target)5;
    EXPECT_EQUAL(cpx_encode(&packet, frame), 0);
    packet.destination = CPX_HOST, packet.function = (enum cpx_function)64;
    EXPECT_EQUAL(cpx_encode(&packet, frame), 0);
}

static void test_wrong_length_in_a_stream(void)
{
    static struct cpx_parser parser;
    static const uint8_t stream[] = {2, 0, 0x61, 5, 0xFF, 3, 0x61, 5};
    uint32_t taken;
    EXPECT_EQUAL(cpx_parse(&parser, stream, 1, &taken), DORY_RUNNING);
    EXPECT_EQUAL(cpx_parse(&parser, stream + 1, sizeof stream - 1, &taken), DORY_OK);
    EXPECT_EQUAL(taken, 3);
    EXPECT_EQUAL(parser.bytes, 4);
    EXPECT_EQUAL(cpx_parse(&parser, stream + 4, sizeof stream - 4, &taken), DORY_ERROR_PACKET);
    EXPECT_EQUAL(cpx_parse(&parser, stream, sizeof stream, &taken), DORY_OK); /* begins anew */
}

/* ---- random packets ---------------------------------------------------------------------------------------- */

static uint8_t data[CPX_DATA_BYTES];

static struct cpx_packet make_packet(void)
{
    static const uint32_t lengths[] = {4, 60, 99, CPX_DATA_BYTES + 1};
    struct cpx_packet packet = {
        .destination = (enum cpx_target)(1 + random_below(4)),
        .source = (enum cpx_target)(1 + random_below(4)),
        .function = (enum cpx_function)random_below(64),
        .is_last = (int)random_below(2),
        .data = data,
        .bytes = random_below(lengths[random_below(4)]),
    };
    for (uint32_t i = 0; i < 4 && i < packet.bytes; i++)
        data[random_below(packet.bytes)] = (uint8_t)random_below(256);
    return packet;
}

static int parse_in_pieces(struct cpx_parser *parser, const uint8_t *frame, uint32_t bytes)
{
    int status = DORY_RUNNING;
    for (uint32_t at = 0, taken; at < bytes; at += taken) {
        uint32_t piece = 1 + random_below(random_below(8) ? bytes - at : 3);
        piece = piece < bytes - at ? piece : bytes - at;
        if (status != DORY_RUNNING)
            return DORY_ERROR_MISMATCH; /* it was complete too early */
        status = cpx_parse(parser, frame + at, piece, &taken);
        if (taken != piece)
            return DORY_ERROR_MISMATCH;
    }
    return status;
}

static int is_same(const struct cpx_packet *a, const struct cpx_packet *b)
{
    return a->destination == b->destination && a->source == b->source && a->function == b->function &&
           a->is_last == b->is_last && a->bytes == b->bytes && memcmp(a->data, b->data, a->bytes) == 0;
}

static void test_random_packets(uint32_t count)
{
    static struct cpx_parser parser;
    uint32_t wrong = 0;
    uint8_t frame[CPX_FRAME_BYTES];
    for (uint32_t i = 0; i < count; i++) {
        struct cpx_packet packet = make_packet(), decoded;
        uint32_t bytes = cpx_encode(&packet, frame);
        int good = parse_in_pieces(&parser, frame, bytes) == DORY_OK && parser.bytes == bytes &&
                   cpx_decode(parser.frame, parser.bytes, &decoded) == DORY_OK && is_same(&packet, &decoded);
        wrong += good ? 0 : 1;
    }
    EXPECT_EQUAL(wrong, 0);
    printf("%u random packets\n", (unsigned)count);
}

/* Spoilt in some bytes: any answer of the three, each of which must occur, and nothing outside the buffers. */
static void test_spoilt_packets(uint32_t count)
{
    static struct cpx_parser parser;
    uint32_t complete = 0, running = 0, refused = 0;
    uint8_t frame[CPX_FRAME_BYTES];
    for (uint32_t i = 0; i < count; i++) {
        struct cpx_packet packet = make_packet();
        uint32_t bytes = cpx_encode(&packet, frame), taken;
        frame[random_below(random_below(2) ? 4 : bytes)] = (uint8_t)random_below(256);
        int status = cpx_parse(&parser, frame, bytes, &taken);
        complete += status == DORY_OK, running += status == DORY_RUNNING, refused += status == DORY_ERROR_PACKET;
        EXPECT_THAT(taken <= bytes && parser.bytes <= CPX_FRAME_BYTES);
    }
    EXPECT_EQUAL(complete + running + refused, count);
    EXPECT_THAT(complete > 0 && running > 0 && refused > 0);
}

int main(void)
{
    test_known_bytes();
    test_what_is_no_packet();
    test_what_cannot_be_sent();
    test_wrong_length_in_a_stream();
    test_random_packets(PACKETS);
    test_spoilt_packets(share_of(PACKETS / 10));
    return expect_result("cpx packets");
}
