/* Packets as they are on the wire: two bytes of length, of what follows without themselves, the lower first; a byte of
 * targets, one of function and version; data. */
#include <string.h>

#include "dory/cpx.h"

enum { LENGTH_BYTES = 2, HEADER_BYTES = 2 };
enum { SOURCE_SHIFT = 3, LAST_BIT = 0x40, VERSION_SHIFT = 6 };
enum { TARGET_MASK = 7, FUNCTION_MASK = 63 };

static int is_target(uint32_t target) { return target >= CPX_STM32 && target <= CPX_GAP8; }

static int is_packet(const struct cpx_packet *packet)
{
    return is_target((uint32_t)packet->destination) && is_target((uint32_t)packet->source) &&
           (uint32_t)packet->function <= FUNCTION_MASK && packet->bytes <= CPX_DATA_BYTES &&
           (packet->data || packet->bytes == 0);
}

uint32_t cpx_encode(const struct cpx_packet *packet, uint8_t *frame)
{
    if (!packet || !frame || !is_packet(packet))
        return 0;
    uint32_t length = HEADER_BYTES + packet->bytes;
    frame[0] = (uint8_t)length;
    frame[1] = (uint8_t)(length >> 8);
    frame[2] = (uint8_t)((uint32_t)packet->destination | (uint32_t)packet->source << SOURCE_SHIFT);
    frame[2] = (uint8_t)(frame[2] | (packet->is_last ? LAST_BIT : 0));
    frame[3] = (uint8_t)((uint32_t)packet->function | CPX_VERSION << VERSION_SHIFT);
    if (packet->bytes > 0)
        memcpy(frame + LENGTH_BYTES + HEADER_BYTES, packet->data, packet->bytes);
    return LENGTH_BYTES + length;
}

static uint32_t length_of(const uint8_t *frame) { return (uint32_t)frame[0] | (uint32_t)frame[1] << 8; }

static int is_length(uint32_t length) { return length >= CPX_MINIMUM_SIZE && length <= HEADER_BYTES + CPX_DATA_BYTES; }

int cpx_decode(const uint8_t *frame, uint32_t bytes, struct cpx_packet *packet)
{
    if (!frame || !packet)
        return DORY_ERROR_ARGUMENT;
    if (bytes < LENGTH_BYTES + HEADER_BYTES || !is_length(length_of(frame)) || LENGTH_BYTES + length_of(frame) > bytes)
        return DORY_ERROR_PACKET;
    uint32_t destination = frame[2] & TARGET_MASK, source = (uint32_t)frame[2] >> SOURCE_SHIFT & TARGET_MASK;
    if ((uint32_t)frame[3] >> VERSION_SHIFT != CPX_VERSION || !is_target(destination) || !is_target(source))
        return DORY_ERROR_PACKET;
    *packet = (struct cpx_packet){
        .destination = (enum cpx_target)destination,
        .source = (enum cpx_target)source,
        .function = (enum cpx_function)(frame[3] & FUNCTION_MASK),
        .is_last = (frame[2] & LAST_BIT) != 0,
        .data = frame + LENGTH_BYTES + HEADER_BYTES,
        .bytes = length_of(frame) - HEADER_BYTES,
    };
    return DORY_OK;
}

/* ---- frames in pieces -------------------------------------------------------------------------------------- */

/* Of the frame under way, as far as that is known yet. */
static uint32_t whole_bytes(const struct cpx_parser *parser)
{
    return LENGTH_BYTES + (parser->bytes < LENGTH_BYTES ? 0 : length_of(parser->frame));
}

static uint32_t take_part(struct cpx_parser *parser, const uint8_t *bytes, uint32_t count)
{
    uint32_t part = whole_bytes(parser) - parser->bytes;
    part = part < count ? part : count;
    memcpy(parser->frame + parser->bytes, bytes, part);
    parser->bytes += part;
    return part;
}

int cpx_parse(struct cpx_parser *parser, const uint8_t *bytes, uint32_t count, uint32_t *taken)
{
    *taken = 0;
    if (parser->bytes >= LENGTH_BYTES && parser->bytes == whole_bytes(parser))
        parser->bytes = 0; /* it was handed out */
    while (*taken < count) {
        *taken += take_part(parser, bytes + *taken, count - *taken);
        if (parser->bytes < LENGTH_BYTES)
            break;
        if (!is_length(length_of(parser->frame))) {
            parser->bytes = 0;
            return DORY_ERROR_PACKET;
        }
        if (parser->bytes == whole_bytes(parser))
            return DORY_OK;
    }
    return DORY_RUNNING;
}
