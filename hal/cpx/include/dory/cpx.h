/* CPX, the packets that the processors of a Crazyflie with an AI-deck exchange: from GAP8 to the ESP32 by SPI, which passes
 * them on to the Crazyflie's processor by UART and to a PC by Wi-Fi.
 *
 *     static uint8_t frames[CPX_FRAMES_BYTES(8)] DORY_L2;
 *     const struct cpx_memory memory = {.frames = frames, .send_count = 6, .receive_count = 2};
 *     status = cpx_open(&memory);
 *     status = cpx_print("hello\n");                        on the client's console
 *     status = cpx_send_app(CPX_STM32, 1, &answer, sizeof answer);
 *
 * All calls are for the fabric controller and return at once, but for cpx_flush and cpx_close. On GAP8, interrupts move
 * packets while the program and a network go on. On a PC the program is its own ESP32: it listens on TCP port 5000 and moves
 * packets in cpx_poll, cpx_send and cpx_receive. CPX acknowledges nothing: a packet that was sent has left, no more.
 *
 * Tried with cflib, the Crazyflie's client, and on gvsoc; never on a deck. */
#ifndef DORY_CPX_H
#define DORY_CPX_H

#include <stdint.h>

#include "dory/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum cpx_target { CPX_STM32 = 1, CPX_ESP32 = 2, CPX_HOST = 3, CPX_GAP8 = 4 };

enum cpx_function {
    CPX_SYSTEM = 1,
    CPX_CONSOLE = 2,
    CPX_CRTP = 3,
    CPX_WIFI_CONTROL = 4,
    CPX_APP = 5,
    CPX_TEST = 14,
    CPX_BOOTLOADER = 15
};

#define CPX_VERSION      0u
#define CPX_FRAME_BYTES  1024u /* length and header, 4 bytes, and data */
#define CPX_DATA_BYTES   1020u /* of a packet, at most */
#define CPX_STM32_BYTES  98u   /* of a packet's data to the Crazyflie's processor: its UART takes 100 with the header */
#define CPX_MINIMUM_SIZE 2u    /* of the length that a frame begins with: the header */

#define CPX_FRAMES_BYTES(count) ((count)*CPX_FRAME_BYTES)

/* ---- packets ----------------------------------------------------------------------------------------------- */

struct cpx_packet {
    enum cpx_target destination, source;
    enum cpx_function function;
    int is_last; /* of several that belong together */
    const uint8_t *data;
    uint32_t bytes; /* of data, 0 to CPX_DATA_BYTES */
};

/* Writes a packet as it is sent; returns the frame's bytes, 0 where the packet is none. `frame`: CPX_FRAME_BYTES. */
uint32_t cpx_encode(const struct cpx_packet *packet, uint8_t *frame);

/* Reads one; data points into the frame. DORY_ERROR_PACKET: no frame of `bytes` bytes, a target or a version that there is
 * none of. Bytes behind the frame do not matter. */
int cpx_decode(const uint8_t *frame, uint32_t bytes, struct cpx_packet *packet);

/* Puts frames together that come in pieces, as from a socket. Zero to begin with. */
struct cpx_parser {
    uint8_t frame[CPX_FRAME_BYTES];
    uint32_t bytes; /* that are there */
};

/* Takes what it needs of the `count` bytes, and says in *taken how many. DORY_RUNNING: the frame is not complete. DORY_OK:
 * parser->frame is, of parser->bytes bytes; the next call begins another. DORY_ERROR_PACKET: a length that no frame has;
 * where the next one begins is not known, and the connection is of no more use. */
int cpx_parse(struct cpx_parser *parser, const uint8_t *bytes, uint32_t count, uint32_t *taken);

/* ---- sending and receiving --------------------------------------------------------------------------------- */

struct cpx_memory {
    uint8_t *frames; /* send_count + receive_count frames, at a multiple of 4; on GAP8 in L2 */
    uint32_t send_count;
    uint32_t receive_count; /* at least 1 */
    int is_deaf;            /* packets for the application are dropped: it calls no cpx_receive */
};

/* Opens the link. DORY_ERROR_ARGUMENT, DORY_ERROR_ALIGNMENT: the memory. DORY_ERROR_BUSY: it is open. DORY_ERROR_DEVICE: the
 * port is not to be had (PC). */
int cpx_open(const struct cpx_memory *memory) __attribute__((warn_unused_result));

/* Waits until all is sent, for a second at most since something was, and closes the link. DORY_ERROR_DEVICE: something was
 * not. Does nothing where the link is not open. */
int cpx_close(void) __attribute__((warn_unused_result));

/* Queues a packet, which is copied. DORY_ERROR_BUSY: the queue is full. DORY_ERROR_DEVICE: it is, and nothing was sent for
 * a second: the peer has stopped. DORY_ERROR_ARGUMENT: there is no such target, or the packet is longer than it takes. */
int cpx_send(enum cpx_target destination, enum cpx_function function, const void *data, uint32_t bytes)
    __attribute__((warn_unused_result));

/* Text for the console of the Crazyflie's client; in several packets where it is long, and then all or none. */
int cpx_print(const char *text) __attribute__((warn_unused_result));

/* A packet of the application: a byte that says which version of its struct this is, and the struct. */
int cpx_send_app(enum cpx_target destination, uint8_t version, const void *data, uint32_t bytes)
    __attribute__((warn_unused_result));

/* The oldest packet that has come for the application; it stays as it is until cpx_release. DORY_RUNNING: there is none. As
 * long as all receive_count are taken, nothing is received, and nothing sent. */
int cpx_receive(struct cpx_packet *packet) __attribute__((warn_unused_result));
void cpx_release(void);

/* Moves packets on where that is not done by interrupts. DORY_ERROR_DEVICE: something is to be sent, and nothing was for a
 * second. */
int cpx_poll(void);

/* The same until all is sent: DORY_OK; or until nothing was for a second: DORY_ERROR_DEVICE. */
int cpx_flush(void) __attribute__((warn_unused_result));

/* Since cpx_open. */
struct cpx_counts {
    uint32_t sent, received; /* packets; received: for the application, with those dropped because it is deaf */
    uint32_t lost;           /* that were queued and not sent: the client that they were for has gone */
    uint32_t bad;            /* frames that came and were none */
    uint32_t strange; /* packets that came and are not for GAP8, or answer to nothing here, as those of the bootloader */
};
void cpx_counts(struct cpx_counts *counts);

/* ---- Wi-Fi ------------------------------------------------------------------------------------------------- */

/* Name (1 to 32 bytes) and key (none, or 8 to 63) of the network, then to join it or to be it. The Crazyflie's firmware can
 * do so instead. */
int cpx_wifi_set_name(const char *name) __attribute__((warn_unused_result));
int cpx_wifi_set_key(const char *key) __attribute__((warn_unused_result));
int cpx_wifi_connect(int is_access_point) __attribute__((warn_unused_result));

struct cpx_wifi {
    uint8_t address[4]; /* 0.0.0.0: none that the ESP32 has told */
    int has_client;     /* a PC is connected */
    uint32_t clients;   /* that were, with this one */
};
void cpx_wifi(struct cpx_wifi *wifi);

/* A picture to the PC, in the format of Bitcraze's viewer. `pixels` stay as they are until cpx_picture_send has returned
 * something other than DORY_RUNNING. Nothing else may be sent to the PC meanwhile: the viewer takes all for the picture. */
enum cpx_picture_type { CPX_RAW = 0, CPX_JPEG = 1 };
struct cpx_picture {
    uint16_t width, height;
    uint8_t depth; /* bytes of a pixel */
    enum cpx_picture_type type;
    const uint8_t *pixels;
    uint32_t bytes;
    uint32_t sent, client; /* 0 to begin with */
};

/* Queues as much of the picture as there is room for. DORY_RUNNING: call it again. DORY_OK: all is queued.
 * DORY_ERROR_CANCELLED: there is no client, or it has gone, or another has come. */
int cpx_picture_send(struct cpx_picture *picture) __attribute__((warn_unused_result));

#ifdef __cplusplus
}
#endif

#endif
