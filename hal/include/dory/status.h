/* Status codes that every run-time call of dory returns: 0, or one of these negative numbers; and 1 of what is still going
 * on. */
#ifndef DORY_STATUS_H
#define DORY_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

enum dory_status {
    DORY_OK = 0,
    DORY_RUNNING = 1,             /* no error: what was started is not complete */
    DORY_ERROR_ARGUMENT = -1,     /* a null pointer, or a value outside its range */
    DORY_ERROR_L1_TOO_SMALL = -2, /* the caller's L1 buffer is smaller than <NET>_L1_BYTES */
    DORY_ERROR_L2_TOO_SMALL = -3, /* the caller's L2 buffer is smaller than <NET>_L2_BYTES */
    DORY_ERROR_ALIGNMENT = -4,    /* a buffer is not aligned to DORY_ALIGNMENT bytes */
    DORY_ERROR_CLUSTER = -5,      /* the cluster could not be started, or with fewer cores than planned */
    DORY_ERROR_DMA = -6,          /* a transfer between L2 and L1 failed or left its memory */
    DORY_ERROR_L3 = -7,           /* a transfer between L3 and L2 failed or left its memory */
    DORY_ERROR_FLASH_IMAGE = -8,  /* the flash does not hold this network's weights (hash differs) */
    DORY_ERROR_MEMORY = -9,       /* a memory level has not that many bytes left */
    DORY_ERROR_STACK = -10,       /* a stack has overwritten its canary */
    DORY_ERROR_MISMATCH = -11,    /* a checked layer differs from its expected values */
    DORY_ERROR_UNSUPPORTED = -12, /* this HAL does not have what was asked for */
    DORY_ERROR_NOT_LOADED = -13,  /* weights that stay in L2 are not there: dory_network_load */
    DORY_ERROR_BUSY = -14,        /* something that was started is not complete: one at a time */
    DORY_ERROR_CANCELLED = -15,   /* a run ended because dory_job_cancel asked for it */
    DORY_ERROR_DEVICE = -16,      /* a device at the chip's pins does not answer, or is another one */
    DORY_ERROR_PACKET = -17       /* what has come is no packet */
};

/* A sentence for a status code, never null; unknown codes have a sentence too. */
const char *dory_strerror(int status);

#ifdef __cplusplus
}
#endif

#endif
