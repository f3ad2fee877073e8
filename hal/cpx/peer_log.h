/* Where there is no Crazyflie: what is sent to its processor goes to the log, as its console and as bytes. */
#ifndef DORY_CPX_PEER_LOG_H
#define DORY_CPX_PEER_LOG_H

#include "dory/cpx.h"

void cpx_log_stm32(const struct cpx_packet *packet);

#endif
