#include "device/device.h"

#include "base/error.h"
#include <stdio.h>
#include <string.h>

#define CPU_DEVICES 1
#define CUDA_DEVICES_MAX 256

static cx_device cpu_device = {.lock = CX_LOCK_INIT(DEVICE)};
static cx_device cuda_devices[CUDA_DEVICES_MAX];
cx_device_list cx_device_lists[CTXRT_DEVICE_TYPE_COUNT];

static void fill_device(cx_device *device, ctxrt_device id, int driver_number, CUdevice native,
                        bool emulated)
{
    device->id = id;
    device->driver = &cx_drivers[driver_number];
    device->driver_number = driver_number;
    device->native = native;
    device->emulated = emulated;
    device->host_accessible = id.type == CTXRT_DEVICE_CPU;
    atomic_store(&device->primary, NULL);
}

void cx_devices_build(bool emulated_gpus)
{
    static bool locks_made;
    if (!locks_made)
        for (int i = 0; i < CUDA_DEVICES_MAX; i++)
            cx_lock_init(&cuda_devices[i].lock, CX_RANK_DEVICE);
    locks_made = true;

    memset(cx_device_lists, 0, sizeof cx_device_lists);
    cx_device_lists[CTXRT_DEVICE_CPU] = (cx_device_list){&cpu_device, CPU_DEVICES};
    fill_device(&cpu_device, CTXRT_CPU(0), 0, 0, true);

    int driver_number = emulated_gpus ? 0 : 1;
    int first = emulated_gpus ? CPU_DEVICES : 0;
    const cx_driver *driver = &cx_drivers[driver_number];
    int count =
        driver_number < cx_driver_count() && driver->loaded ? driver->device_count - first : 0;
    if (count > CUDA_DEVICES_MAX)
        count = CUDA_DEVICES_MAX;
    cx_device_lists[CTXRT_DEVICE_CUDA] = (cx_device_list){cuda_devices, count};
    for (int i = 0; i < count; i++)
        fill_device(&cuda_devices[i], CTXRT_CUDA(i), driver_number, first + i, emulated_gpus);
}

const char *cx_device_text(ctxrt_device id)
{
    char *text = cx_thread_name_buffer();
    if (text == NULL)
        return ctxrt_device_type_name(id.type);
    snprintf(text, CX_THREAD_NAME, "%s:%d", ctxrt_device_type_name(id.type), id.index);
    return text;
}

ctxrt_status cx_device_missing(ctxrt_device id)
{
    if ((int)id.type < 0 || id.type >= CTXRT_DEVICE_TYPE_COUNT)
        return cx_error(CTXRT_ERROR_INVALID_DEVICE, "there is no device type %d", (int)id.type);
    int count = cx_device_lists[id.type].count;
    bool is_cuda = id.type == CTXRT_DEVICE_CUDA;
    const char *reason = is_cuda ? cx_runtime_cuda_reason() : "";
    bool may_play = is_cuda && count == 0 && cx_runtime_uses_libcuda();
    return cx_error(CTXRT_ERROR_INVALID_DEVICE,
                    "there is no device %s: the type has %d device%s%s%s%s", cx_device_text(id),
                    count, count == 1 ? "" : "s", reason[0] != '\0' ? "; " : "", reason,
                    may_play ? "; CTXRT_DRIVER=emulated plays GPUs on the CPU" : "");
}

void cx_devices_each(void (*visit)(cx_device *device, void *argument), void *argument)
{
    visit(&cpu_device, argument);
    for (int i = 0; i < cx_device_lists[CTXRT_DEVICE_CUDA].count; i++)
        visit(&cuda_devices[i], argument);
}

cx_device *cx_device_of_native(const cx_driver *driver, CUdevice native)
{
    if (cpu_device.driver == driver && cpu_device.native == native)
        return &cpu_device;
    for (int i = 0; i < cx_device_lists[CTXRT_DEVICE_CUDA].count; i++)
        if (cuda_devices[i].driver == driver && cuda_devices[i].native == native)
            return &cuda_devices[i];
    return NULL;
}

const char *ctxrt_device_type_name(ctxrt_device_type type)
{
    switch ((int)type) {
#define TYPE_NAME(name, value, text) \
    case CTXRT_DEVICE_##name:        \
        return text;
        CTXRT_DEVICE_TYPE_LIST(TYPE_NAME)
#undef TYPE_NAME
    }
    return "unknown";
}

ctxrt_status ctxrt_device_count(ctxrt_device_type type, int *out_count)
{
    if (out_count == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_device_count: out_count is NULL");
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if ((unsigned int)type >= CTXRT_DEVICE_TYPE_COUNT)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "there is no device type %d", (int)type);
    *out_count = cx_device_lists[type].count;
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_device_count_all(int *out_counts)
{
    if (out_counts == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_device_count_all: out_counts is NULL");
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    for (int type = 0; type < CTXRT_DEVICE_TYPE_COUNT; type++)
        out_counts[type] = cx_device_lists[type].count;
    return CTXRT_SUCCESS;
}
