#define DORY_HAL_ON_DRIVER
#include "tile_loop.h"

#include "core_loop.h"

/* The driver, where it is no core. A function of its own: its lines lie in the driver's cache with those of what it calls.
 */
static __attribute__((noinline)) void run_driver(struct dory_driver *driver)
{
    for (unsigned turn = 0;; turn++) {
        struct dory_work *work = &driver->shared->work[turn & 1];
        dory_driver_prepare(driver, work);
        hal_meet();
        if (work->kind == DORY_WORK_END) {
            return;
        }
        dory_driver_start(driver, work);
    }
}

void dory_run_tiles(struct dory_driver *driver)
{
    if (!hal_is_driver()) {
        dory_run_core(&driver->run);
        return;
    }
    dory_driver_open(driver);
    if (hal_is_core()) {
        dory_run_driving_core(driver);
    } else {
        run_driver(driver);
    }
}
