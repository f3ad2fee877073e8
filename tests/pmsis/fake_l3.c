/* Flash and RAM of the fake PMSIS: see fake_pmsis.c. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bsp/flash/hyperflash.h"
#include "bsp/ram/hyperram.h"
#include "fake_pmsis.h"

#define RAM_BYTES  0x800000
#define FLASH_BUS  0
#define FLASH_CHIP 1

extern const uint8_t __start_dory_flash[], __stop_dory_flash[];

static uint8_t ram_memory[RAM_BYTES];
static bool flash_is_open, bus_is_open, ram_is_open;
static uint32_t ram_allocated;

/* One at a time, through one HyperBus, in the order in which they were handed over. */
struct transfer {
    uint8_t *to;
    const uint8_t *from;
    uint32_t bytes;
    pi_task_t *done;
    struct transfer *next;
};
static struct transfer *first_transfer, *last_transfer;
static pthread_mutex_t transfers_lock = PTHREAD_MUTEX_INITIALIZER;
static pi_task_t transfer_event;
static unsigned events_left;

static void advance_transfer(void *argument)
{
    (void)argument;
    pi_task_t *done = NULL;
    pthread_mutex_lock(&transfers_lock);
    if (events_left-- == 0) {
        struct transfer *transfer = first_transfer;
        memcpy(transfer->to, transfer->from, transfer->bytes);
        done = transfer->done;
        first_transfer = transfer->next;
        free(transfer);
        events_left = 3;
    }
    bool more = first_transfer;
    pthread_mutex_unlock(&transfers_lock);
    if (more)
        push_event(pi_task_callback(&transfer_event, advance_transfer, NULL));
    if (done)
        push_event(done);
}

static void begin_transfer(uint8_t *to, const uint8_t *from, uint32_t bytes, pi_task_t *done)
{
    struct transfer *transfer = malloc(sizeof *transfer);
    require(transfer, "no memory");
    *transfer = (struct transfer){to, from, bytes, done, NULL};
    pthread_mutex_lock(&transfers_lock);
    bool is_alone = !first_transfer;
    if (is_alone)
        first_transfer = transfer;
    else
        last_transfer->next = transfer;
    last_transfer = transfer;
    events_left = is_alone ? 3 : events_left;
    pthread_mutex_unlock(&transfers_lock);
    if (is_alone)
        push_event(pi_task_callback(&transfer_event, advance_transfer, NULL));
}

static const uint8_t *in_flash(uint32_t address, uint32_t bytes)
{
    uint64_t image_bytes = (uint64_t)(__stop_dory_flash - __start_dory_flash);
    require(flash_is_open && address >= DORY_FLASH_OFFSET, "the flash is closed, or its boot image was read");
    require(address - DORY_FLASH_OFFSET + (uint64_t)bytes <= image_bytes, "a read behind what is in the flash");
    return __start_dory_flash + (address - DORY_FLASH_OFFSET);
}

static uint8_t *in_ram(uint32_t address, uint32_t bytes)
{
    require(ram_is_open && address >= ram_allocated && address + (uint64_t)bytes <= RAM_BYTES,
            "not the RAM that was allocated");
    return ram_memory + address;
}

void pi_hyperflash_conf_init(struct pi_hyperflash_conf *conf)
{
    *conf = (struct pi_hyperflash_conf){.hyper_itf = FLASH_BUS, .hyper_cs = FLASH_CHIP};
}
void pi_hyperram_conf_init(struct pi_hyperram_conf *conf) { *conf = (struct pi_hyperram_conf){0}; }

int pi_flash_open(struct pi_device *device)
{
    require(device->config && !flash_is_open, "flash opened twice");
    flash_is_open = true;
    return 0;
}

void pi_flash_close(struct pi_device *device)
{
    (void)device;
    flash_is_open = false;
}

void pi_hyper_conf_init(struct pi_hyper_conf *conf) { *conf = (struct pi_hyper_conf){.type = PI_HYPER_TYPE_RAM}; }

static const struct pi_hyper_conf *bus_conf(const struct pi_device *device) { return device->config; }

int32_t pi_hyper_open(struct pi_device *device)
{
    const struct pi_hyper_conf *conf = bus_conf(device);
    require(conf && !bus_is_open && conf->type == PI_HYPER_TYPE_FLASH && conf->cs == FLASH_CHIP && conf->id == FLASH_BUS,
            "not the flash");
    bus_is_open = true;
    return 0;
}

void pi_hyper_close(struct pi_device *device)
{
    require(bus_is_open && bus_conf(device)->cs == FLASH_CHIP && flash_is_open, "the flash was closed before its bus");
    bus_is_open = false;
}

void pi_hyper_read_async(struct pi_device *device, uint32_t address, void *data, uint32_t bytes, pi_task_t *task)
{
    require(bus_is_open && bus_conf(device)->cs == FLASH_CHIP, "a closed bus");
    begin_transfer(data, in_flash(address, bytes), bytes, task);
}

int32_t pi_ram_open(struct pi_device *device)
{
    require(device->config && !ram_is_open, "RAM opened twice");
    ram_is_open = true;
    return 0;
}

void pi_ram_close(struct pi_device *device)
{
    (void)device;
    require(ram_allocated == 0, "RAM closed with something allocated");
    ram_is_open = false;
}

int pi_ram_alloc(struct pi_device *device, uint32_t *address, uint32_t bytes)
{
    (void)device;
    require(ram_allocated == 0, "RAM allocated twice");
    *address = ram_allocated = 0x1000;
    return bytes <= RAM_BYTES - ram_allocated ? 0 : -1;
}

int pi_ram_free(struct pi_device *device, uint32_t address, uint32_t bytes)
{
    (void)device;
    require(bytes > 0 && address == ram_allocated, "a wrong free of RAM");
    ram_allocated = 0;
    return 0;
}

void pi_ram_read_async(struct pi_device *device, uint32_t address, void *data, uint32_t bytes, pi_task_t *task)
{
    (void)device;
    begin_transfer(data, in_ram(address, bytes), bytes, task);
}

void pi_ram_write_async(struct pi_device *device, uint32_t address, void *data, uint32_t bytes, pi_task_t *task)
{
    (void)device;
    begin_transfer(in_ram(address, bytes), data, bytes, task);
}
