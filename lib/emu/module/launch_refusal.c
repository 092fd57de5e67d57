#include "emu/module/launch_refusal.h"

#include "emu/base/state.h"
#include "emu/device/device.h"

#include <stdio.h>

/* Whether the calling thread's latest launch was refused; its address names the thread. Room for
 * variables of threads is scarce, so the text is shared. */
static _Thread_local bool refused;

/* Guarded by "emu.state": the latest refusal of all threads. */
static const bool *owner;
static char latest[128];

static bool tell_threads(const uint32_t block[3], const char *whose, uint64_t most)
{
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (threads <= most)
        return false;
    snprintf(latest, sizeof latest, "the block has %llu threads, and the %s's limit is %llu",
             (unsigned long long)threads, whose, (unsigned long long)most);
    return true;
}

static bool tell_dimensions(const cx_emu_device *device, const char *what, const uint32_t size[3],
                            cxu_device_attribute first)
{
    uint32_t most[3];
    bool over = false;
    for (int i = 0; i < 3; i++) {
        most[i] = (uint32_t)cx_emu_attribute_value(device, (cxu_device_attribute)((int)first + i));
        over = over || size[i] == 0 || size[i] > most[i];
    }
    if (over)
        snprintf(latest, sizeof latest,
                 "the %s is %u x %u x %u, and the device's limit is 1 to %u x %u x %u", what,
                 size[0], size[1], size[2], most[0], most[1], most[2]);
    return over;
}

void cx_emu_launch_refusal_forget(void)
{
    refused = false;
}

void cx_emu_launch_refusal_note(const cx_emu_launch *launch, const cx_emu_function *function)
{
    refused = true;
    owner = &refused;
    latest[0] = '\0';
    const cx_emu_device *device = function->module->context->device;
    size_t kernel = cx_emu_function_describe(function).max_threads;
    size_t shared = cx_emu_function_dynamic_limit(function);
    uint64_t threads =
        (uint64_t)cx_emu_attribute_value(device, CXU_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    if (tell_threads(launch->block, "device", threads) ||
        tell_threads(launch->block, "kernel", kernel != 0 ? kernel : threads) ||
        tell_dimensions(device, "block", launch->block, CXU_ATTRIBUTE_MAX_BLOCK_DIM_X) ||
        tell_dimensions(device, "grid", launch->grid, CXU_ATTRIBUTE_MAX_GRID_DIM_X))
        return;
    if (launch->shared_bytes > shared)
        snprintf(latest, sizeof latest,
                 "it asks for %u bytes of dynamic shared memory, and the kernel's limit is %zu",
                 launch->shared_bytes, shared);
}

bool cx_emu_launch_refusal_describe(char *text, size_t size)
{
    if (!refused)
        return false;
    cx_lock_enter(&cx_emu_lock);
    const bool told = owner == &refused && latest[0] != '\0';
    if (told)
        snprintf(text, size, "%s", latest);
    cx_lock_leave(&cx_emu_lock);
    return told;
}
