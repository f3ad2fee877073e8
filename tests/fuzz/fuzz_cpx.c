/* Any bytes as a stream of CPX, in pieces that the bytes themselves decide: frames lie in their buffer, and what is decoded
 * encodes to the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "dory/cpx.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void expect(int holds)
{
    if (!holds)
        abort();
}

/* But for the reserved bit. */
static void check_frame(const struct cpx_parser *parser)
{
    struct cpx_packet packet;
    uint8_t frame[CPX_FRAME_BYTES];
    expect(parser->bytes >= 4 && parser->bytes <= CPX_FRAME_BYTES);
    if (cpx_decode(parser->frame, parser->bytes, &packet) != DORY_OK)
        return;
    expect(packet.data + packet.bytes == parser->frame + parser->bytes);
    expect(cpx_encode(&packet, frame) == parser->bytes);
    expect(((frame[2] ^ parser->frame[2]) & 0x7F) == 0 && frame[3] == parser->frame[3]);
    expect(memcmp(frame + 4, parser->frame + 4, packet.bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct cpx_parser *parser = calloc(1, sizeof *parser);
    struct cpx_packet packet;
    expect(parser != NULL);
    cpx_decode(bytes, (uint32_t)length, &packet); /* as it comes from SPI: whole */
    for (size_t at = 0; at < length;) {
        uint32_t taken = 0, piece = 1 + bytes[at] % 97u;
        piece = piece < length - at ? piece : (uint32_t)(length - at);
        int status = cpx_parse(parser, bytes + at, piece, &taken);
        expect(taken <= piece && (taken == piece || status != DORY_RUNNING) && taken > 0);
        if (status == DORY_OK)
            check_frame(parser);
        at += taken;
    }
    free(parser);
    return 0;
}
