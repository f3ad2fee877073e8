/* A link to nobody, for machines without one (virt): packets to the Crazyflie's processor go to the log, others nowhere. */
#include "link.h"
#include "peer_log.h"

int cpx_link_open(void) { return DORY_OK; }

void cpx_link_close(void) {}

void cpx_link_poll(void)
{
    uint32_t bytes;
    struct cpx_packet packet;
    for (const uint8_t *frame = cpx_link_next(&bytes); frame; frame = cpx_link_next(&bytes)) {
        if (cpx_decode(frame, bytes, &packet) == DORY_OK && packet.destination == CPX_STM32)
            cpx_log_stm32(&packet);
        cpx_link_sent(packet.destination == CPX_HOST);
    }
}

uint32_t cpx_link_milliseconds(void) { return 0; }

uint32_t cpx_link_lock(void) { return 0; }

void cpx_link_unlock(uint32_t locked) { (void)locked; }
