/* A PC in the place of the ESP32: a client connects to TCP port 5000 (DORY_CPX_PORT names another), as by Wi-Fi, and gets
 * what is sent to CPX_HOST. Packets to the Crazyflie's processor go to the log. One client at a time, as there; nothing
 * blocks.
 *
 * It listens to this PC alone. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "dory/hal.h"
#include "link.h"
#include "peer_log.h"

enum { DEFAULT_PORT = 5000, NONE = -1 };

static struct {
    int server, client;
    uint32_t sent; /* bytes of the frame under way */
    struct cpx_parser parser;
    uint8_t input[4096];
    uint32_t input_bytes, input_taken;
} peer = {.server = NONE, .client = NONE};

/* ---- opening ----------------------------------------------------------------------------------------------- */

/* 0: no number of a port. */
static unsigned long port_number(void)
{
    const char *text = getenv("DORY_CPX_PORT");
    if (!text)
        return DEFAULT_PORT;
    char *end;
    unsigned long port = strtoul(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && port <= 65535 ? port : 0;
}

static int report(const char *what, unsigned long port)
{
    char text[160];
    snprintf(text, sizeof text, "cpx: %s %lu: %s\n", what, port, strerror(errno));
    hal_log(text);
    return DORY_ERROR_DEVICE;
}

static int listen_at(unsigned long port)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int yes = 1;
    peer.server = socket(AF_INET, SOCK_STREAM, 0);
    if (peer.server < 0 || setsockopt(peer.server, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(peer.server, (const struct sockaddr *)&address, sizeof address) != 0 || listen(peer.server, 1) != 0 ||
        fcntl(peer.server, F_SETFL, O_NONBLOCK) != 0) {
        int status = report("cannot listen at port", port);
        cpx_link_close();
        return status;
    }
    return DORY_OK;
}

int cpx_link_open(void)
{
    unsigned long port = port_number();
    if (port == 0) {
        hal_log("cpx: DORY_CPX_PORT is no number from 1 to 65535\n");
        return DORY_ERROR_DEVICE;
    }
    peer.client = NONE;
    return listen_at(port);
}

static void close_socket(int *handle)
{
    if (*handle != NONE)
        close(*handle);
    *handle = NONE;
}

void cpx_link_close(void)
{
    close_socket(&peer.client);
    close_socket(&peer.server);
}

/* ---- what the ESP32 tells GAP8 ------------------------------------------------------------------------------- */

/* False where there is no room, to be tried again. */
static int tell_client(int is_connected)
{
    const uint8_t control[] = {0x32, (uint8_t)is_connected};
    const struct cpx_packet packet = {CPX_GAP8, CPX_ESP32, CPX_WIFI_CONTROL, 1, control, sizeof control};
    uint8_t *place = cpx_link_place();
    if (place)
        cpx_link_received(cpx_encode(&packet, place));
    return place != NULL;
}

static void tell_address(void)
{
    const uint8_t control[] = {0x31, 127, 0, 0, 1};
    const struct cpx_packet packet = {CPX_GAP8, CPX_ESP32, CPX_WIFI_CONTROL, 1, control, sizeof control};
    uint8_t *place = cpx_link_place();
    if (place)
        cpx_link_received(cpx_encode(&packet, place));
}

static void disconnect(void)
{
    if (tell_client(0))
        close_socket(&peer.client);
}

static void accept_client(void)
{
    if (peer.client != NONE || !cpx_link_place())
        return;
    peer.client = accept(peer.server, NULL, NULL);
    if (peer.client == NONE)
        return;
    fcntl(peer.client, F_SETFL, O_NONBLOCK);
    peer.sent = peer.parser.bytes = peer.input_bytes = peer.input_taken = 0;
    tell_client(1);
}

/* ---- from the client ----------------------------------------------------------------------------------------- */

/* False: there is nothing, or no client any more. */
static int read_input(void)
{
    if (peer.input_taken < peer.input_bytes)
        return 1;
    ssize_t count = recv(peer.client, peer.input, sizeof peer.input, 0);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
        disconnect();
    peer.input_taken = 0;
    peer.input_bytes = count > 0 ? (uint32_t)count : 0;
    return count > 0;
}

/* A packet for another processor is the ESP32's to pass on, and no business of GAP8. */
static void take_frame(uint8_t *place)
{
    struct cpx_packet packet;
    uint32_t bytes = peer.parser.bytes;
    if (cpx_decode(peer.parser.frame, bytes, &packet) == DORY_OK && packet.destination != CPX_GAP8)
        return;
    memcpy(place, peer.parser.frame, bytes);
    cpx_link_received(bytes);
}

static void receive_frames(void)
{
    while (peer.client != NONE && cpx_link_place() && read_input()) {
        uint32_t taken;
        int status = cpx_parse(&peer.parser, peer.input + peer.input_taken, peer.input_bytes - peer.input_taken, &taken);
        peer.input_taken += taken;
        if (status == DORY_OK)
            take_frame(cpx_link_place());
        else if (status != DORY_RUNNING)
            disconnect();
    }
}

/* ---- to the client ------------------------------------------------------------------------------------------- */

enum outcome { SENT, LOST, LATER };

/* Without a client, the ESP32 drops what is for it; a frame that has begun is of no use to the next one. */
static enum outcome send_to_client(const uint8_t *frame, uint32_t bytes)
{
    if (peer.client == NONE)
        return LOST;
    ssize_t count = send(peer.client, frame + peer.sent, bytes - peer.sent, MSG_NOSIGNAL);
    if (count < 0 && errno != EAGAIN && errno != EINTR) {
        disconnect();
        return LOST;
    }
    peer.sent += count > 0 ? (uint32_t)count : 0;
    return peer.sent < bytes ? LATER : SENT;
}

static enum outcome pass_on(const uint8_t *frame, uint32_t bytes)
{
    struct cpx_packet packet;
    if (cpx_decode(frame, bytes, &packet) != DORY_OK)
        return LOST;
    if (packet.destination == CPX_HOST)
        return send_to_client(frame, bytes);
    if (packet.destination == CPX_STM32)
        cpx_log_stm32(&packet);
    else if (packet.function == CPX_WIFI_CONTROL && packet.bytes == 2 && packet.data[0] == 0x20)
        tell_address();
    return SENT;
}

static void send_frames(void)
{
    uint32_t bytes;
    for (const uint8_t *frame = cpx_link_next(&bytes); frame; frame = cpx_link_next(&bytes)) {
        enum outcome outcome = pass_on(frame, bytes);
        if (outcome == LATER)
            return;
        peer.sent = 0;
        cpx_link_sent(outcome == LOST);
    }
}

void cpx_link_poll(void)
{
    accept_client();
    if (peer.client != NONE)
        receive_frames();
    send_frames();
}

/* ---- one thread ---------------------------------------------------------------------------------------------- */

uint32_t cpx_link_milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint32_t)now.tv_sec * 1000u + (uint32_t)(now.tv_nsec / 1000000);
}

uint32_t cpx_link_lock(void) { return 0; }

void cpx_link_unlock(uint32_t locked) { (void)locked; }
