/* This end of CPX: two rings of frames, one to the link and one from it. The application writes at one end of each, the link
 * at the other, often in an interrupt; a count belongs to one of them alone, but for what stands between lock and unlock. */
#include <string.h>

#include "link.h"

#ifndef CPX_PATIENCE_MILLISECONDS
#define CPX_PATIENCE_MILLISECONDS 1000u /* without a packet sent; an ESP32 takes most of it to start */
#endif
#define WIFI_CONNECTED 0x31u
#define WIFI_CLIENT    0x32u
#define ALL_CLIENTS    UINT32_MAX

struct ring {
    uint8_t *frames;
    uint32_t count;
    volatile uint32_t written, read; /* frames, since the start */
};

static struct {
    int is_open, is_deaf;
    struct ring send, receive;
    struct cpx_counts counts;
    struct cpx_wifi wifi;
    uint32_t since; /* something was sent, or there was nothing to send; milliseconds */
} endpoint;

static uint8_t *frame_of(const struct ring *ring, uint32_t number)
{
    return ring->frames + number % ring->count * CPX_FRAME_BYTES;
}

static uint32_t room_of(const struct ring *ring) { return ring->count - (ring->written - ring->read); }

/* ---- opening ----------------------------------------------------------------------------------------------- */

static int check_memory(const struct cpx_memory *memory)
{
    if (!memory || !memory->frames || memory->send_count == 0 || memory->receive_count == 0)
        return DORY_ERROR_ARGUMENT;
    return (uintptr_t)memory->frames % 4 ? DORY_ERROR_ALIGNMENT : DORY_OK;
}

int cpx_open(const struct cpx_memory *memory)
{
    int status = endpoint.is_open ? DORY_ERROR_BUSY : check_memory(memory);
    if (status != DORY_OK)
        return status;
    memset(&endpoint, 0, sizeof endpoint);
    endpoint.is_deaf = memory->is_deaf;
    endpoint.send = (struct ring){.frames = memory->frames, .count = memory->send_count};
    endpoint.receive =
        (struct ring){.frames = memory->frames + CPX_FRAMES_BYTES(memory->send_count), .count = memory->receive_count};
    status = cpx_link_open();
    endpoint.is_open = status == DORY_OK;
    endpoint.since = cpx_link_milliseconds();
    return status;
}

int cpx_close(void)
{
    if (!endpoint.is_open)
        return DORY_OK;
    int status = cpx_flush();
    cpx_link_close();
    endpoint.is_open = 0;
    return status;
}

void cpx_counts(struct cpx_counts *counts) { *counts = endpoint.counts; }

void cpx_wifi(struct cpx_wifi *wifi) { *wifi = endpoint.wifi; }

/* ---- to the link ------------------------------------------------------------------------------------------- */

static int peer_is_silent(void)
{
    return endpoint.send.written != endpoint.send.read &&
           cpx_link_milliseconds() - endpoint.since > CPX_PATIENCE_MILLISECONDS;
}

int cpx_poll(void)
{
    if (!endpoint.is_open)
        return DORY_ERROR_ARGUMENT;
    cpx_link_poll();
    return peer_is_silent() ? DORY_ERROR_DEVICE : DORY_OK;
}

int cpx_flush(void)
{
    int status = cpx_poll();
    while (status == DORY_OK && endpoint.send.written != endpoint.send.read)
        status = cpx_poll();
    return status;
}

static int is_wanted_by(uint32_t client)
{
    return client == ALL_CLIENTS || (endpoint.wifi.has_client && endpoint.wifi.clients == client);
}

/* Makes `count` frames behind those that were written the link's; none where they are for a client that has gone. */
static int publish(uint32_t count, uint32_t client)
{
    uint32_t locked = cpx_link_lock();
    int is_wanted = is_wanted_by(client);
    if (is_wanted && endpoint.send.written == endpoint.send.read)
        endpoint.since = cpx_link_milliseconds();
    endpoint.send.written += is_wanted ? count : 0;
    cpx_link_unlock(locked);
    cpx_link_poll();
    return is_wanted ? DORY_OK : DORY_ERROR_CANCELLED;
}

static int wait_for_room(uint32_t count)
{
    if (!endpoint.is_open)
        return DORY_ERROR_ARGUMENT;
    if (room_of(&endpoint.send) < count)
        cpx_link_poll();
    if (room_of(&endpoint.send) >= count)
        return DORY_OK;
    return peer_is_silent() ? DORY_ERROR_DEVICE : DORY_ERROR_BUSY;
}

static uint32_t limit_of(enum cpx_target target) { return target == CPX_STM32 ? CPX_STM32_BYTES : CPX_DATA_BYTES; }

/* The frame is `ahead` frames behind those that were written. */
static int write_frame(uint32_t ahead, const struct cpx_packet *packet)
{
    if (packet->bytes > limit_of(packet->destination) || packet->destination == CPX_GAP8)
        return DORY_ERROR_ARGUMENT;
    return cpx_encode(packet, frame_of(&endpoint.send, endpoint.send.written + ahead)) ? DORY_OK : DORY_ERROR_ARGUMENT;
}

/* A picture leaves a quarter of the places to others: else nothing would get through while one is sent. */
static int send_packet(const struct cpx_packet *packet, uint32_t client)
{
    uint32_t room = client == ALL_CLIENTS ? 1 : 1 + endpoint.send.count / 4;
    int status = is_wanted_by(client) ? wait_for_room(room) : DORY_ERROR_CANCELLED;
    if (status == DORY_OK)
        status = write_frame(0, packet);
    return status ? status : publish(1, client);
}

int cpx_send(enum cpx_target destination, enum cpx_function function, const void *data, uint32_t bytes)
{
    const struct cpx_packet packet = {destination, CPX_GAP8, function, 1, data, bytes};
    return send_packet(&packet, ALL_CLIENTS);
}

int cpx_print(const char *text)
{
    if (!text || strlen(text) > CPX_STM32_BYTES * endpoint.send.count)
        return DORY_ERROR_ARGUMENT;
    uint32_t bytes = (uint32_t)strlen(text), count = (bytes + CPX_STM32_BYTES - 1) / CPX_STM32_BYTES;
    int status = wait_for_room(count);
    for (uint32_t i = 0; i < count && status == DORY_OK; i++) {
        uint32_t from = i * CPX_STM32_BYTES, left = bytes - from;
        const struct cpx_packet packet = {CPX_STM32,
                                          CPX_GAP8,
                                          CPX_CONSOLE,
                                          i + 1 == count,
                                          (const uint8_t *)text + from,
                                          left < CPX_STM32_BYTES ? left : CPX_STM32_BYTES};
        status = write_frame(i, &packet);
    }
    return status ? status : publish(count, ALL_CLIENTS);
}

int cpx_send_app(enum cpx_target destination, uint8_t version, const void *data, uint32_t bytes)
{
    uint8_t versioned[CPX_STM32_BYTES];
    if (bytes >= sizeof versioned || (!data && bytes > 0))
        return DORY_ERROR_ARGUMENT;
    versioned[0] = version;
    if (bytes > 0)
        memcpy(versioned + 1, data, bytes);
    return cpx_send(destination, CPX_APP, versioned, bytes + 1);
}

static uint32_t frame_bytes(const uint8_t *frame) { return 2 + ((uint32_t)frame[0] | (uint32_t)frame[1] << 8); }

/* A frame whose targets are 0 has been withdrawn. */
const uint8_t *cpx_link_next(uint32_t *bytes)
{
    while (endpoint.send.read != endpoint.send.written) {
        const uint8_t *frame = frame_of(&endpoint.send, endpoint.send.read);
        *bytes = frame_bytes(frame);
        if (frame[2] != 0)
            return frame;
        cpx_link_sent(1);
    }
    return NULL;
}

void cpx_link_sent(int is_lost)
{
    endpoint.since = cpx_link_milliseconds();
    *(is_lost ? &endpoint.counts.lost : &endpoint.counts.sent) += 1;
    endpoint.send.read++;
}

/* ---- from the link ----------------------------------------------------------------------------------------- */

int cpx_receive(struct cpx_packet *packet)
{
    if (!endpoint.is_open || !packet)
        return DORY_ERROR_ARGUMENT;
    if (endpoint.receive.read == endpoint.receive.written)
        cpx_link_poll();
    if (endpoint.receive.read == endpoint.receive.written)
        return DORY_RUNNING;
    return cpx_decode(frame_of(&endpoint.receive, endpoint.receive.read), CPX_FRAME_BYTES, packet);
}

void cpx_release(void)
{
    if (!endpoint.is_open || endpoint.receive.read == endpoint.receive.written)
        return;
    endpoint.receive.read++;
    cpx_link_poll();
}

uint8_t *cpx_link_place(void)
{
    return room_of(&endpoint.receive) > 0 ? frame_of(&endpoint.receive, endpoint.receive.written) : NULL;
}

/* Whoever connects next must not get the rest of a picture. The oldest frame may be under way already. */
static void withdraw_from_client(void)
{
    for (uint32_t number = endpoint.send.read + 1; (int32_t)(endpoint.send.written - number) > 0; number++) {
        uint8_t *frame = frame_of(&endpoint.send, number);
        if ((frame[2] & 7) == CPX_HOST)
            frame[2] = 0;
    }
}

static void note_client(int is_connected)
{
    withdraw_from_client();
    endpoint.wifi.clients += is_connected ? 1 : 0;
    endpoint.wifi.has_client = is_connected;
}

static void note_wifi(const struct cpx_packet *packet)
{
    if (packet->source == CPX_ESP32 && packet->bytes == 5 && packet->data[0] == WIFI_CONNECTED)
        memcpy(endpoint.wifi.address, packet->data + 1, sizeof endpoint.wifi.address);
    else if (packet->source == CPX_ESP32 && packet->bytes == 2 && packet->data[0] == WIFI_CLIENT)
        note_client(packet->data[1] != 0);
    else
        endpoint.counts.strange++;
}

void cpx_link_received(uint32_t bytes)
{
    struct cpx_packet packet;
    if (cpx_decode(frame_of(&endpoint.receive, endpoint.receive.written), bytes, &packet) != DORY_OK) {
        endpoint.counts.bad++;
    } else if (packet.destination != CPX_GAP8 || packet.function == CPX_BOOTLOADER) {
        endpoint.counts.strange++;
    } else if (packet.function == CPX_WIFI_CONTROL) {
        note_wifi(&packet);
    } else {
        endpoint.counts.received++;
        endpoint.receive.written += endpoint.is_deaf ? 0 : 1;
    }
}

/* ---- Wi-Fi ------------------------------------------------------------------------------------------------- */

enum { SET_NAME = 0x10, SET_KEY = 0x11, CONNECT = 0x20 };
enum { MAXIMUM_NAME = 32, MINIMUM_KEY = 8, MAXIMUM_KEY = 63 };

static int send_wifi(uint8_t command, const void *data, uint32_t bytes)
{
    uint8_t control[1 + MAXIMUM_KEY];
    control[0] = command;
    memcpy(control + 1, data, bytes);
    return cpx_send(CPX_ESP32, CPX_WIFI_CONTROL, control, 1 + bytes);
}

int cpx_wifi_set_name(const char *name)
{
    if (!name || strlen(name) < 1 || strlen(name) > MAXIMUM_NAME)
        return DORY_ERROR_ARGUMENT;
    return send_wifi(SET_NAME, name, (uint32_t)strlen(name));
}

int cpx_wifi_set_key(const char *key)
{
    size_t bytes = key ? strlen(key) : 0;
    if (!key || bytes > MAXIMUM_KEY || (bytes > 0 && bytes < MINIMUM_KEY))
        return DORY_ERROR_ARGUMENT;
    return send_wifi(SET_KEY, key, (uint32_t)bytes);
}

int cpx_wifi_connect(int is_access_point)
{
    const uint8_t mode = is_access_point ? 1 : 0;
    return send_wifi(CONNECT, &mode, 1);
}

/* ---- pictures ---------------------------------------------------------------------------------------------- */

enum { PICTURE_MAGIC = 0xBC, PICTURE_HEADER_BYTES = 11 };

static void put(uint8_t *to, uint32_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static int send_picture_header(struct cpx_picture *picture)
{
    uint8_t header[PICTURE_HEADER_BYTES] = {PICTURE_MAGIC};
    put(header + 1, picture->width, 2);
    put(header + 3, picture->height, 2);
    header[5] = picture->depth;
    header[6] = (uint8_t)picture->type;
    put(header + 7, picture->bytes, 4);
    struct cpx_wifi wifi;
    cpx_wifi(&wifi);
    const struct cpx_packet packet = {CPX_HOST, CPX_GAP8, CPX_APP, 0, header, sizeof header};
    int status = send_packet(&packet, wifi.clients);
    if (status == DORY_OK)
        picture->client = wifi.clients;
    return status;
}

static int send_picture_part(struct cpx_picture *picture)
{
    uint32_t left = picture->bytes - picture->sent;
    uint32_t bytes = left < CPX_DATA_BYTES ? left : CPX_DATA_BYTES;
    const struct cpx_packet packet = {CPX_HOST, CPX_GAP8, CPX_APP, bytes == left, picture->pixels + picture->sent, bytes};
    int status = send_packet(&packet, picture->client);
    picture->sent += status == DORY_OK ? bytes : 0;
    return status;
}

int cpx_picture_send(struct cpx_picture *picture)
{
    if (!picture || !picture->pixels || picture->bytes == 0)
        return DORY_ERROR_ARGUMENT;
    int status = picture->client == 0 ? send_picture_header(picture) : DORY_OK;
    while (status == DORY_OK && picture->sent < picture->bytes)
        status = send_picture_part(picture);
    return status == DORY_ERROR_BUSY ? DORY_RUNNING : status;
}
