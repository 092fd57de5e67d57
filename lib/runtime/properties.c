#include "runtime/properties.h"

#include "runtime/calls.h"
#include "runtime/driver.h"

#include <stddef.h>
#include <string.h>

enum { MAX_VALUES = 3 };

typedef struct property {
    size_t offset;
    bool is_size;                                /* else ints */
    cxu_device_attribute attributes[MAX_VALUES]; /* 0: no more of them */
} property;

#define NONE 0

static const property properties_12[] = {
#define CX_PROPERTY(versions, type, field, extent, ...) CX_ROW_##versions(type, field, __VA_ARGS__)
#define CX_ROW_ALL(type, field, ...) \
    {offsetof(cxr_properties_12, field), sizeof(type) == sizeof(size_t), {__VA_ARGS__}},
#define CX_ROW_UNTIL_12 CX_ROW_ALL
#define CX_ROW_SINCE_13(type, field, ...)
#include "runtime/properties.def"
#undef CX_ROW_ALL
#undef CX_ROW_UNTIL_12
#undef CX_ROW_SINCE_13
};

static const property properties_13[] = {
#define CX_PROPERTY(versions, type, field, extent, ...) CX_ROW_##versions(type, field, __VA_ARGS__)
#define CX_ROW_ALL(type, field, ...) \
    {offsetof(cxr_properties_13, field), sizeof(type) == sizeof(size_t), {__VA_ARGS__}},
#define CX_ROW_UNTIL_12(type, field, ...)
#define CX_ROW_SINCE_13 CX_ROW_ALL
#include "runtime/properties.def"
#undef CX_ROW_ALL
#undef CX_ROW_UNTIL_12
#undef CX_ROW_SINCE_13
};

/* An attribute that this driver does not know is 0. */
static void fill_attributes(const cx_driver_table *driver, CUdevice device, const property *rows,
                            size_t count, char *out_properties, size_t size)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < MAX_VALUES && rows[i].attributes[k] != 0; k++) {
            char *field = out_properties + rows[i].offset;
            int value = 0;
            if (rows[i].offset >= size)
                continue;
            (void)driver->device_get_attribute(&value, rows[i].attributes[k], device);
            if (rows[i].is_size)
                *(size_t *)(void *)field = (size_t)value;
            else
                ((int *)(void *)field)[k] = value;
        }
}

typedef struct identity {
    char name[256];
    cxu_uuid uuid;
    char luid[8];
    unsigned int luidDeviceNodeMask;
    size_t totalGlobalMem;
} identity;

_Static_assert(offsetof(identity, totalGlobalMem) == offsetof(cxr_properties_12, totalGlobalMem) &&
                   offsetof(identity, totalGlobalMem) ==
                       offsetof(cxr_properties_13, totalGlobalMem),
               "the structs begin with the same fields");

/* A LUID is Windows' alone. */
static cxr_error fill_identity(const cx_driver_table *driver, CUdevice device, identity *out_self)
{
    cxr_error error =
        (cxr_error)driver->device_get_name(out_self->name, sizeof out_self->name, device);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver->device_get_uuid_v2(&out_self->uuid, device);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver->device_total_mem(&out_self->totalGlobalMem, device);
    return error;
}

static cxr_error get_properties(void *out_properties, int device, const property *rows,
                                size_t count, size_t size)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_driver(&driver);
    if (error != CXR_SUCCESS)
        return error;
    if (out_properties == NULL)
        return CXR_INVALID_VALUE;
    if (!cx_cudart_has_device(device))
        return CXR_INVALID_DEVICE;
    memset(out_properties, 0, size);
    error = fill_identity(driver, device, out_properties);
    if (error == CXR_SUCCESS)
        fill_attributes(driver, device, rows, count, out_properties, size);
    return error;
}

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

/* The struct of CUDA 11, which programs of CUDA 12 that were built with it have, too. */
cxr_error cxr_cudaGetDeviceProperties(void *out_properties, int device)
{
    return get_properties(out_properties, device, properties_12, COUNT(properties_12),
                          offsetof(cxr_properties_12, hostRegisterSupported));
}

cxr_error cxr_cudaGetDeviceProperties_v2(cxr_properties_12 *out_properties, int device)
{
    return get_properties(out_properties, device, properties_12, COUNT(properties_12),
                          sizeof *out_properties);
}

cxr_error cxr_cudaGetDeviceProperties_v3(cxr_properties_13 *out_properties, int device)
{
    return get_properties(out_properties, device, properties_13, COUNT(properties_13),
                          sizeof *out_properties);
}

/* ---- choosing a device ---- */

typedef struct wish {
    int major, minor;
    size_t memory;
} wish;

/* The device that has the most of what is asked for: the first of those that fit best. */
static cxr_error choose(int *out_device, const wish *wanted)
{
    const cx_driver_table *driver;
    int best_score = -1;
    cxr_error error = cx_cudart_use_driver(&driver);
    if (error != CXR_SUCCESS)
        return error;
    if (out_device == NULL || wanted == NULL)
        return CXR_INVALID_VALUE;
    for (int device = 0; device < cx_cudart_device_count(); device++) {
        int major = 0, minor = 0;
        size_t memory = 0;
        (void)driver->device_get_attribute(&major, CXU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
        (void)driver->device_get_attribute(&minor, CXU_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
        (void)driver->device_total_mem(&memory, device);
        int score = (major > wanted->major || (major == wanted->major && minor >= wanted->minor)) +
                    (memory >= wanted->memory);
        if (score > best_score) {
            best_score = score;
            *out_device = device;
        }
    }
    return CXR_SUCCESS;
}

cxr_error cxr_cudaChooseDevice(int *out_device, const void *wanted)
{
    if (wanted == NULL)
        return CXR_INVALID_VALUE;
    if (cx_cudart_version >= 13000) {
        const cxr_properties_13 *of = wanted;
        return choose(out_device, &(wish){of->major, of->minor, of->totalGlobalMem});
    }
    const cxr_properties_12 *of = wanted;
    return choose(out_device, &(wish){of->major, of->minor, of->totalGlobalMem});
}
