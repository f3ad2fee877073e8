/* Sentences for status codes, the same on every machine. */
#include "dory/status.h"

const char *dory_strerror(int status)
{
    switch (status) {
    case DORY_OK: return "success";
    case DORY_ERROR_ARGUMENT: return "an argument is null or outside its range";
    case DORY_ERROR_L1_TOO_SMALL: return "the L1 buffer is smaller than the network needs";
    case DORY_ERROR_L2_TOO_SMALL: return "the L2 buffer is smaller than the network needs";
    case DORY_ERROR_ALIGNMENT: return "a buffer is not aligned to DORY_ALIGNMENT bytes";
    case DORY_ERROR_CLUSTER: return "the cluster did not start, or has fewer cores than asked for";
    case DORY_ERROR_DMA: return "a transfer between L2 and L1 failed or left its memory";
    case DORY_ERROR_L3: return "a transfer between L3 and L2 failed or left its memory";
    case DORY_ERROR_FLASH_IMAGE: return "the flash does not hold the weights of this network";
    case DORY_ERROR_MEMORY: return "a memory level has not that many bytes left, or was written outside a reservation";
    case DORY_ERROR_STACK: return "a stack has grown beyond its end";
    case DORY_ERROR_MISMATCH: return "a layer differs from its expected values";
    case DORY_ERROR_UNSUPPORTED: return "this hardware layer does not have what was asked for";
    case DORY_ERROR_NOT_LOADED: return "the weights that stay in L2 have not been loaded, or were overwritten";
    case DORY_RUNNING: return "what was started is still going on";
    case DORY_ERROR_BUSY: return "a run that was started is not complete, and there is one at a time";
    case DORY_ERROR_CANCELLED: return "the run was cancelled";
    case DORY_ERROR_DEVICE: return "a device at the chip's pins does not answer, or is another one";
    case DORY_ERROR_PACKET: return "what has come is no packet";
    default: return "an unknown status code";
    }
}
