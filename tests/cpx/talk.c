/* An application for client.py: it answers packets of its function with the same bytes turned round, prints a line for every
 * client, and shows each of them a picture; it ends with a packet that says "end". */
#include <stdio.h>
#include <string.h>

#include "dory/cpx.h"
#include "dory/hal.h"

enum { WIDTH = 324, HEIGHT = 244, SENDS = 6, RECEIVES = 2 };

static uint8_t frames[CPX_FRAMES_BYTES(SENDS + RECEIVES)] DORY_L2;
static uint8_t pixels[WIDTH * HEIGHT];
static struct cpx_picture picture;

static void begin_picture(uint32_t client)
{
    for (uint32_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * i / 7 + client);
    picture = (struct cpx_picture){.width = WIDTH, .height = HEIGHT, .depth = 1, .pixels = pixels, .bytes = sizeof pixels};
}

static int greet_client(void)
{
    static uint32_t clients;
    struct cpx_wifi wifi;
    char text[64];
    cpx_wifi(&wifi);
    if (wifi.clients == clients)
        return DORY_OK;
    clients = wifi.clients;
    snprintf(text, sizeof text, "client %u is here\n", (unsigned)clients);
    return cpx_print(text);
}

static int is_text(const struct cpx_packet *packet, const char *text)
{
    return packet->bytes == strlen(text) && memcmp(packet->data, text, packet->bytes) == 0;
}

static int answer(const struct cpx_packet *packet)
{
    uint8_t turned[CPX_DATA_BYTES];
    for (uint32_t i = 0; i < packet->bytes; i++)
        turned[i] = packet->data[packet->bytes - 1 - i];
    return cpx_send(packet->source, packet->function, turned, packet->bytes);
}

/* A packet that cannot be answered yet stays, and is answered next time. */
static int serve_packet(int *is_at_end)
{
    struct cpx_packet packet;
    struct cpx_wifi wifi;
    int status = cpx_receive(&packet);
    if (status != DORY_OK)
        return status == DORY_RUNNING ? DORY_OK : status;
    cpx_wifi(&wifi);
    *is_at_end = is_text(&packet, "end");
    if (is_text(&packet, "picture"))
        begin_picture(wifi.clients);
    else
        status = answer(&packet);
    if (status != DORY_ERROR_BUSY)
        cpx_release();
    return status == DORY_ERROR_BUSY ? DORY_OK : status;
}

static int show_picture(void)
{
    int status = picture.bytes ? cpx_picture_send(&picture) : DORY_RUNNING;
    if (status == DORY_RUNNING)
        return DORY_OK;
    picture.bytes = 0;
    return status == DORY_ERROR_CANCELLED ? cpx_print("nobody looks any more\n") : status;
}

static int serve(void)
{
    int status = DORY_OK, is_at_end = 0;
    while (status == DORY_OK && !is_at_end) {
        status = greet_client();
        if (status == DORY_OK)
            status = serve_packet(&is_at_end);
        if (status == DORY_OK)
            status = show_picture();
    }
    return status;
}

int main(void)
{
    const struct cpx_memory memory = {.frames = frames, .send_count = SENDS, .receive_count = RECEIVES};
    struct cpx_counts counts;
    int status = cpx_open(&memory);
    if (status == DORY_OK)
        status = cpx_wifi_connect(1);
    if (status == DORY_OK)
        status = serve();
    int closed = cpx_close();
    cpx_counts(&counts);
    printf("sent %u, received %u, lost %u, bad %u, strange %u\n", (unsigned)counts.sent, (unsigned)counts.received,
           (unsigned)counts.lost, (unsigned)counts.bad, (unsigned)counts.strange);
    hal_log(dory_strerror(status ? status : closed));
    hal_log("\n");
    return (status ? status : closed) != DORY_OK;
}
