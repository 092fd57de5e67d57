/* R1, R2: the runtime API above the driver, where --cudart names one. It opens libcuda.so.1 by
 * itself. */
#include "probes.h"
#include "steps.h"

#include <dlfcn.h>
#include <string.h>

static int (*set_device)(int device);
static int (*get_device)(int *device);
static int (*device_reset)(void);
static int (*free_memory)(void *memory);

static void resolve(void *library, const char *symbol, void *variable)
{
    void *function = dlsym(library, symbol);
    if (function == NULL)
        give_up("not reached: no %s", symbol);
    memcpy(variable, &function, sizeof function);
}

static void prepare(void)
{
    if (cudart_path == NULL)
        give_up("needs --cudart");
    void *library = dlopen(cudart_path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        give_up("not reached: %s", dlerror());
    resolve(library, "cudaSetDevice", &set_device);
    resolve(library, "cudaGetDevice", &get_device);
    resolve(library, "cudaDeviceReset", &device_reset);
    resolve(library, "cudaFree", &free_memory);
    init();
}

static void see_active(const char *word)
{
    unsigned int flags = 0;
    int active = -1;
    cuDevicePrimaryCtxGetState(0, &flags, &active);
    see(word, "%d", active);
}

static void set_on_empty(void)
{
    prepare();
    see("set-device", "%d", set_device(0));
    see_active("active");
    see("depth", "%d", depth());
    CUcontext now = current();
    CUcontext primary = retain();
    see("current", "%s", now == primary ? "primary" : who(now));
}

static void set_over_context(void)
{
    int device = -7;
    prepare();
    create("a");
    create("b");
    see("get-device", "%d", get_device(&device));
    see("current-after-get-device", "%s", who(current()));
    see("set-device", "%d", set_device(0));
    see("depth", "%d", depth());
    CUcontext now = current();
    CUcontext primary = retain();
    see("current", "%s", now == primary ? "primary" : who(now));
    cuCtxPopCurrent_v2(NULL);
    see("beneath", "%s", who(current()));
}

static void reset_primary(void)
{
    prepare();
    set_device(0);
    free_memory(NULL);
    CUcontext before = current();
    know(before, "primary");
    see("reset", "%d", device_reset());
    see("current", "%s", who(current()));
    see_active("active");
    see_alloc("alloc");
    see("set-device", "%d", set_device(0));
    see("current-after-set", "%s", who(current()));
    see_alloc("alloc-after-set");
}

static void reset_other(void)
{
    prepare();
    create("a");
    CUdeviceptr mine = memory(64);
    see("reset", "%d", device_reset());
    see("current", "%s", who(current()));
    see_alloc("alloc");
    see_result("free", cuMemFree_v2(mine));
    see_active("active");
}

const struct experiment runtime_experiments[] = {
    {"R1.set-on-empty", set_on_empty, "set-device active depth current"},
    {"R1.set-over-context", set_over_context,
     "get-device current-after-get-device set-device depth current beneath"},
    {"R2.reset-primary", reset_primary,
     "reset current active alloc set-device current-after-set alloc-after-set"},
    {"R2.reset-other-current", reset_other, "reset current alloc free active"},
    {NULL, NULL, NULL},
};
