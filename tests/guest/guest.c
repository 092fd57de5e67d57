#include "guest.h"

#include <stddef.h>

cxu_result guest_open(guest *self, const cx_driver_table *driver, CUdevice device)
{
    self->driver = driver;
    self->device = device;
    return driver->primary_retain(&self->context, device);
}

cxu_result guest_close(guest *self)
{
    return self->driver->primary_release(self->device);
}

const char *guest_act_text(guest_act act)
{
    static const char *const texts[GUEST_ACTS] = {
        [GUEST_SETS_ANOTHER] = "sets another context",
        [GUEST_SETS_THE_SAME] = "sets the same context",
        [GUEST_SETS_NONE] = "sets none",
        [GUEST_LEAKS_THE_SAME] = "leaks a push of the same",
        [GUEST_LEAKS_ANOTHER] = "leaks a push of another",
        [GUEST_LEAKS_THREE] = "leaks three pushes",
        [GUEST_POPS_ONE] = "pops one too many",
        [GUEST_POPS_TWO] = "pops two too many",
        [GUEST_POPS_ALL] = "pops everything",
        [GUEST_REPLACES_TWO] = "pops two, pushes its own",
        [GUEST_RESETS_CURRENT] = "resets the current primary",
        [GUEST_DESTROYS_CURRENT] = "destroys what is current",
        [GUEST_DESTROYS_BENEATH] = "destroys what is beneath",
    };
    return texts[act];
}

static cxu_result pop(const guest *self, int count)
{
    cxu_result result = CXU_SUCCESS;
    for (int i = 0; i < count && result == CXU_SUCCESS; i++)
        result = self->driver->ctx_pop(NULL);
    return result;
}

static cxu_result pop_all(const guest *self)
{
    while (self->driver->ctx_pop(NULL) == CXU_SUCCESS)
        continue;
    return CXU_SUCCESS;
}

static cxu_result reset_current(const guest *self)
{
    CUdevice device;
    cxu_result result = self->driver->ctx_get_device(&device);
    return result == CXU_SUCCESS ? self->driver->primary_reset(device) : result;
}

static cxu_result destroy_beneath(const guest *self, CUcontext current)
{
    CUcontext beneath = NULL;
    cxu_result result = self->driver->ctx_pop(NULL);
    if (result == CXU_SUCCESS)
        result = self->driver->ctx_get_current(&beneath);
    (void)self->driver->ctx_push(current);
    if (result != CXU_SUCCESS || beneath == NULL)
        return CXU_INVALID_VALUE;
    return self->driver->ctx_destroy(beneath);
}

cxu_result guest_do(const guest *self, guest_act act)
{
    const cx_driver_table *driver = self->driver;
    CUcontext current = NULL;
    cxu_result result = driver->ctx_get_current(&current);
    if (result != CXU_SUCCESS)
        return result;
    switch (act) {
    case GUEST_SETS_ANOTHER:
        return driver->ctx_set_current(self->context);
    case GUEST_SETS_THE_SAME:
        return driver->ctx_set_current(current);
    case GUEST_SETS_NONE:
        return driver->ctx_set_current(NULL);
    case GUEST_LEAKS_THE_SAME:
        return driver->ctx_push(current);
    case GUEST_LEAKS_ANOTHER:
        return driver->ctx_push(self->context);
    case GUEST_LEAKS_THREE:
        for (int i = 0; i < 3 && result == CXU_SUCCESS; i++)
            result = driver->ctx_push(i == 1 ? current : self->context);
        return result;
    case GUEST_POPS_ONE:
        return pop(self, 1);
    case GUEST_POPS_TWO:
        return pop(self, 2);
    case GUEST_POPS_ALL:
        return pop_all(self);
    case GUEST_REPLACES_TWO:
        result = pop(self, 2);
        return result == CXU_SUCCESS ? driver->ctx_push(self->context) : result;
    case GUEST_RESETS_CURRENT:
        return reset_current(self);
    case GUEST_DESTROYS_CURRENT:
        return driver->ctx_destroy(current);
    case GUEST_DESTROYS_BENEATH:
        return destroy_beneath(self, current);
    case GUEST_ACTS:
        break;
    }
    return CXU_INVALID_VALUE;
}
