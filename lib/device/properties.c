#include "base/error.h"
#include "device/device.h"

#include <stdio.h>
#include <string.h>

typedef struct attribute_field {
    cxu_device_attribute attribute;
    size_t offset; /* of an int of ctxrt_device_info */
} attribute_field;

static const attribute_field attribute_fields[] = {
    {CXU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, offsetof(ctxrt_device_info, compute_major)},
    {CXU_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, offsetof(ctxrt_device_info, compute_minor)},
    {CXU_ATTRIBUTE_MULTIPROCESSOR_COUNT, offsetof(ctxrt_device_info, multiprocessors)},
    {CXU_ATTRIBUTE_WARP_SIZE, offsetof(ctxrt_device_info, warp_size)},
    {CXU_ATTRIBUTE_MAX_THREADS_PER_BLOCK, offsetof(ctxrt_device_info, max_threads_per_block)},
    {CXU_ATTRIBUTE_CLOCK_RATE, offsetof(ctxrt_device_info, clock_khz)},
    {CXU_ATTRIBUTE_MEMORY_CLOCK_RATE, offsetof(ctxrt_device_info, memory_clock_khz)},
    {CXU_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, offsetof(ctxrt_device_info, memory_bus_bits)},
    {CXU_ATTRIBUTE_INTEGRATED, offsetof(ctxrt_device_info, integrated)},
    {CXU_ATTRIBUTE_UNIFIED_ADDRESSING, offsetof(ctxrt_device_info, unified_addressing)},
    {CXU_ATTRIBUTE_CAN_MAP_HOST_MEMORY, offsetof(ctxrt_device_info, can_map_host_memory)},
    {CXU_ATTRIBUTE_MANAGED_MEMORY, offsetof(ctxrt_device_info, managed_memory)},
    {CXU_ATTRIBUTE_TEXTURE_ALIGNMENT, offsetof(ctxrt_device_info, texture_alignment_bytes)},
};

/* Attributes that came later: an older driver refuses them, and its devices have neither. */
static const attribute_field newer_fields[] = {
    {CXU_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
     offsetof(ctxrt_device_info, concurrent_managed_access)},
    {CXU_ATTRIBUTE_CLUSTER_LAUNCH, offsetof(ctxrt_device_info, cluster_launch)},
};

static ctxrt_status read_attributes(const cx_device *device, ctxrt_device_info *info)
{
    const cx_driver *driver = device->driver;
    for (size_t i = 0; i < sizeof attribute_fields / sizeof attribute_fields[0]; i++) {
        int value;
        ctxrt_status status = CX_DRIVER_CALL(
            driver, device_get_attribute, (&value, attribute_fields[i].attribute, device->native));
        if (status != CTXRT_SUCCESS)
            return status;
        memcpy((char *)info + attribute_fields[i].offset, &value, sizeof value);
    }
    return CTXRT_SUCCESS;
}

static ctxrt_status read_newer_attributes(const cx_device *device, ctxrt_device_info *info)
{
    const cx_driver *driver = device->driver;
    for (size_t i = 0; i < sizeof newer_fields / sizeof newer_fields[0]; i++) {
        int value = 0;
        cxu_result result = driver->table.device_get_attribute(&value, newer_fields[i].attribute,
                                                               device->native);
        if (result != CXU_SUCCESS && result != CXU_INVALID_VALUE)
            return cx_driver_error(driver, CX_SLOT_device_get_attribute, result);
        memcpy((char *)info + newer_fields[i].offset, &value, sizeof value);
    }
    return CTXRT_SUCCESS;
}

/* Prefers the newer call: it tells the parts of a partitioned GPU apart. */
static cxu_result read_uuid(const cx_device *device, cxu_uuid *out_uuid)
{
    const cx_driver_table *table = &device->driver->table;
    cxu_result result = table->device_get_uuid_v2(out_uuid, device->native);
    return result == CXU_NOT_SUPPORTED ? table->device_get_uuid(out_uuid, device->native) : result;
}

static ctxrt_status describe_device(const cx_device *device, ctxrt_device_info *info)
{
    const cx_driver *driver = device->driver;
    memset(info, 0, sizeof *info);
    ctxrt_status status =
        CX_DRIVER_CALL(driver, device_get_name, (info->name, sizeof info->name, device->native));
    if (status == CTXRT_SUCCESS)
        status = CX_DRIVER_CALL(driver, device_total_mem, (&info->total_bytes, device->native));
    if (status == CTXRT_SUCCESS)
        status = read_attributes(device, info);
    if (status == CTXRT_SUCCESS)
        status = read_newer_attributes(device, info);
    if (status != CTXRT_SUCCESS)
        return status;
    cxu_uuid uuid;
    if (read_uuid(device, &uuid) == CXU_SUCCESS)
        memcpy(info->uuid, uuid.bytes, sizeof info->uuid);
    if (driver->table.device_get_pci_bus_id(info->pci_bus_id, sizeof info->pci_bus_id,
                                            device->native) != CXU_SUCCESS)
        info->pci_bus_id[0] = '\0';
    info->host_accessible = device->host_accessible;
    info->emulated = device->emulated;
    info->driver_ordinal = device->native;
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_device_properties(ctxrt_device id, ctxrt_device_info *out_info)
{
    cx_device *device;
    if (out_info == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_device_properties: out_info is NULL");
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = cx_device_find(id, &device);
    ctxrt_device_info info;
    if (status == CTXRT_SUCCESS)
        status = describe_device(device, &info);
    if (status == CTXRT_SUCCESS)
        *out_info = info;
    return status;
}

/* The key of ctxrt_device_by_uuid and ctxrt_device_by_pci. */
typedef struct search {
    const unsigned char *uuid;
    const char *bus_id;
    cx_device *found;
} search;

static void compare_device(cx_device *device, void *argument)
{
    search *wanted = argument;
    ctxrt_device_info info;
    if (wanted->found != NULL || describe_device(device, &info) != CTXRT_SUCCESS)
        return;
    if (wanted->uuid != NULL
            ? memcmp(info.uuid, wanted->uuid, sizeof info.uuid) == 0
            : info.pci_bus_id[0] != '\0' && strcasecmp(info.pci_bus_id, wanted->bus_id) == 0)
        wanted->found = device;
}

static ctxrt_status find_device(search *wanted, ctxrt_device *out_device)
{
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    cx_devices_each(compare_device, wanted);
    if (wanted->found == NULL)
        return cx_error(CTXRT_ERROR_INVALID_DEVICE, "no device has %s%s",
                        wanted->uuid != NULL ? "this UUID" : "the PCI address ",
                        wanted->uuid != NULL ? "" : wanted->bus_id);
    *out_device = wanted->found->id;
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_device_by_uuid(const unsigned char uuid[16], ctxrt_device *out_device)
{
    if (uuid == NULL || out_device == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_device_by_uuid: %s is NULL",
                        uuid == NULL ? "uuid" : "out_device");
    search wanted = {.uuid = uuid};
    return find_device(&wanted, out_device);
}

ctxrt_status ctxrt_device_by_pci(const char *bus_id, ctxrt_device *out_device)
{
    if (bus_id == NULL || out_device == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_device_by_pci: %s is NULL",
                        bus_id == NULL ? "bus_id" : "out_device");
    search wanted = {.bus_id = bus_id};
    return find_device(&wanted, out_device);
}

ctxrt_status ctxrt_device_can_access_peer(ctxrt_device id, ctxrt_device peer_id, int *out_can)
{
    cx_device *device, *peer;
    if (out_can == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_device_can_access_peer: out_can is NULL");
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = cx_device_find(id, &device);
    if (status == CTXRT_SUCCESS)
        status = cx_device_find(peer_id, &peer);
    if (status != CTXRT_SUCCESS)
        return status;
    int can = 0;
    if (device->driver == peer->driver && device != peer)
        status = CX_DRIVER_CALL(device->driver, device_can_access_peer,
                                (&can, device->native, peer->native));
    if (status == CTXRT_SUCCESS)
        *out_can = can;
    return status;
}
