#include "dory/gap8_interrupts.h"

void (*gap8_soc_event_handler)(uint32_t event);
