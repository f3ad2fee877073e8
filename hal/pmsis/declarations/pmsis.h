/* The part of the PMSIS API that hal/pmsis calls, for compiling it without an SDK: names and signatures only, written for
 * this purpose. Structures have the members that the HAL touches; an SDK's have more. Never link against this. */
#ifndef DORY_PMSIS_DECLARATIONS_H
#define DORY_PMSIS_DECLARATIONS_H

#include <stdint.h>

/* ---- devices and tasks ---- */

typedef struct pi_device {
    void *config;
    void *data;
} pi_device_t;

void pi_open_from_conf(struct pi_device *device, void *conf); /* keeps the address until the device is closed */

typedef struct pi_task {
    void (*callback)(void *argument);
    void *argument;
    struct pi_task *next;
    volatile int done;
} pi_task_t;

void pi_yield(void);                                 /* of the caller, to the FC's events; may wait for one */
struct pi_task *pi_task_block(struct pi_task *task); /* one that only ends a wait of the caller */
void pi_task_wait_on(struct pi_task *task);          /* FC; until it was sent. Other events are served meanwhile */
struct pi_task *pi_task_callback(struct pi_task *task, void (*callback)(void *argument), void *argument);

/* ---- cluster ---- */

struct pi_cluster_conf {
    int id;
};

struct pi_cluster_task {
    void (*entry)(void *argument);
    void *arg;
    void *stacks;
    uint32_t stack_size, slave_stack_size;
};

void pi_cluster_conf_init(struct pi_cluster_conf *conf);
int pi_cluster_open(struct pi_device *device);
int pi_cluster_close(struct pi_device *device);
struct pi_cluster_task *pi_cluster_task(struct pi_cluster_task *task, void (*entry)(void *argument), void *argument);
int pi_cluster_send_task_to_cl(struct pi_device *device, struct pi_cluster_task *task);
int pi_cluster_send_task_to_cl_async(struct pi_device *device, struct pi_cluster_task *task, pi_task_t *end);
void pi_cl_send_task_to_fc(pi_task_t *task);

void pi_cl_team_fork(int cores, void (*entry)(void *argument), void *argument);
void pi_cl_team_barrier(void);
uint32_t pi_core_id(void);
#ifdef __riscv
static inline unsigned int hal_core_id(void) { return pi_core_id(); } /* as in PulpOS: HALs collide */
#endif
uint32_t pi_is_fc(void);

/* ---- memory ---- */

#define PI_CL_L1 __attribute__((section(".data_l1")))
#define PI_FC_L1 __attribute__((section(".data_fc")))

void *pi_cl_l1_malloc(struct pi_device *device, uint32_t bytes);
void pi_cl_l1_free(struct pi_device *device, void *chunk, int bytes);
void *pi_l2_malloc(int bytes);
void pi_l2_free(void *chunk, int bytes);

/* ---- flash and RAM, and the bus that both are on ---- */

typedef enum { PI_HYPER_TYPE_FLASH, PI_HYPER_TYPE_RAM } pi_hyper_type_e;

struct pi_hyper_conf {
    signed char id;
    uint32_t cs;
    pi_hyper_type_e type;
};

void pi_hyper_conf_init(struct pi_hyper_conf *conf);
int32_t pi_hyper_open(struct pi_device *device);
void pi_hyper_close(struct pi_device *device);
void pi_hyper_read_async(struct pi_device *device, uint32_t address, void *data, uint32_t bytes, pi_task_t *task);

int pi_flash_open(struct pi_device *device);
void pi_flash_close(struct pi_device *device);

int32_t pi_ram_open(struct pi_device *device);
void pi_ram_close(struct pi_device *device);
int pi_ram_alloc(struct pi_device *device, uint32_t *address, uint32_t bytes);
int pi_ram_free(struct pi_device *device, uint32_t address, uint32_t bytes);
void pi_ram_read_async(struct pi_device *device, uint32_t address, void *data, uint32_t bytes, pi_task_t *task);
void pi_ram_write_async(struct pi_device *device, uint32_t address, void *data, uint32_t bytes, pi_task_t *task);

/* ---- time ---- */

enum { PI_PERF_CYCLES = 0 };
void pi_perf_conf(unsigned events);
void pi_perf_start(void);
unsigned int pi_perf_read(int event);

typedef enum { PI_FREQ_DOMAIN_FC, PI_FREQ_DOMAIN_CL } pi_freq_domain_e;
uint32_t pi_freq_get(pi_freq_domain_e domain);

#endif
