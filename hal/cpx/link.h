/* Between CPX's portable part and a machine's link. A link has one peer, and calls what stands under "for the link" from
 * wherever it moves packets: an interrupt, or cpx_link_poll. */
#ifndef DORY_CPX_LINK_H
#define DORY_CPX_LINK_H

#include "dory/cpx.h"

/* ---- of the link ---- */

int cpx_link_open(void);
void cpx_link_close(void);

/* Moves packets on as far as that goes without waiting; more can be sent, or be received, than at the last call. */
void cpx_link_poll(void);

/* Milliseconds since some time, modulo 2^32. */
uint32_t cpx_link_milliseconds(void);

/* What lies in between is not interrupted by the link. */
uint32_t cpx_link_lock(void);
void cpx_link_unlock(uint32_t locked);

/* ---- for the link ---- */

/* The frame that is to be sent next, of *bytes bytes; null: none. It is the link's until cpx_link_sent. */
const uint8_t *cpx_link_next(uint32_t *bytes);
void cpx_link_sent(int is_lost);

/* Where the next frame may be received; null: all places are taken. It has come: `bytes`, as many as the peer sent. */
uint8_t *cpx_link_place(void);
void cpx_link_received(uint32_t bytes);

#endif
