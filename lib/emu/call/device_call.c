#include "emu/base/state.h"
#include "emu/device/board.h"
#include "emu/device/device.h"
#include "emu/report/not_supported.h"
#include <stdio.h>
#include <string.h>

#define PCI_TEXT_BYTES 13 /* "0000:01:00.0" and its end */

static cxu_result enter_device(const void *out_pointer, CUdevice ordinal,
                               cx_emu_device **out_device)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_pointer == NULL)
        return CXU_INVALID_VALUE;
    *out_device = cx_emu_device_find(ordinal);
    return *out_device != NULL ? (cxu_result)atomic_load(&(*out_device)->lost) : CXU_INVALID_DEVICE;
}

cxu_result cx_emu_call_device_get(CUdevice *out_device, int ordinal)
{
    cx_emu_device *device;
    cxu_result result = enter_device(out_device, ordinal, &device);
    if (result == CXU_SUCCESS)
        *out_device = ordinal;
    return result;
}

cxu_result cx_emu_call_device_get_count(int *out_count)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_count == NULL)
        return CXU_INVALID_VALUE;
    *out_count = cx_emu_device_total();
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_device_get_name(char *name, int size, CUdevice ordinal)
{
    cx_emu_device *device;
    cxu_result result = enter_device(name, ordinal, &device);
    if (result != CXU_SUCCESS)
        return result;
    if (size <= 0)
        return CXU_INVALID_VALUE;
    snprintf(name, (size_t)size, "%s",
             device->host ? "ctxrt host device" : cx_emu_gpu_name(device->gpu));
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_device_get_uuid_v2(cxu_uuid *out_uuid, CUdevice ordinal)
{
    cx_emu_device *device;
    cxu_result result = enter_device(out_uuid, ordinal, &device);
    if (result == CXU_SUCCESS)
        cx_emu_board_uuid(device->board, out_uuid);
    return result;
}

cxu_result cx_emu_call_device_get_uuid(cxu_uuid *out_uuid, CUdevice ordinal)
{
    return cx_emu_call_device_get_uuid_v2(out_uuid, ordinal);
}

cxu_result cx_emu_call_device_get_luid(char *out_luid, unsigned int *out_node_mask,
                                       CUdevice ordinal)
{
    cx_emu_device *device;
    cxu_result result = enter_device(out_luid, ordinal, &device);
    if (result != CXU_SUCCESS)
        return result;
    if (out_node_mask == NULL)
        return CXU_INVALID_VALUE;
    return cx_emu_not_supported("cuDeviceGetLuid",
                                "a locally unique identifier, which only Windows has,");
}

cxu_result cx_emu_call_device_total_mem(size_t *out_bytes, CUdevice ordinal)
{
    cx_emu_device *device;
    cxu_result result = enter_device(out_bytes, ordinal, &device);
    if (result == CXU_SUCCESS)
        *out_bytes = device->memory_bytes;
    return result;
}

cxu_result cx_emu_call_device_get_attribute(int *out_value, cxu_device_attribute attribute,
                                            CUdevice ordinal)
{
    cx_emu_device *device;
    cxu_result result = enter_device(out_value, ordinal, &device);
    if (result == CXU_SUCCESS && !cx_emu_attribute(device, attribute, out_value))
        result = CXU_INVALID_VALUE;
    return result;
}

cxu_result cx_emu_call_device_compute_capability(int *out_major, int *out_minor, CUdevice ordinal)
{
    cx_emu_device *device;
    cxu_result result = enter_device(out_major, ordinal, &device);
    if (result != CXU_SUCCESS)
        return result;
    if (out_minor == NULL)
        return CXU_INVALID_VALUE;
    cx_emu_attribute(device, CXU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, out_major);
    cx_emu_attribute(device, CXU_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, out_minor);
    return CXU_SUCCESS;
}

static int bus_of(const cx_emu_device *device)
{
    int bus = 0;
    cx_emu_attribute(device, CXU_ATTRIBUTE_PCI_BUS_ID, &bus);
    return bus;
}

cxu_result cx_emu_call_device_get_pci_bus_id(char *bus_id, int size, CUdevice ordinal)
{
    cx_emu_device *device;
    cxu_result result = enter_device(bus_id, ordinal, &device);
    if (result != CXU_SUCCESS)
        return result;
    if (size < PCI_TEXT_BYTES)
        return CXU_INVALID_VALUE;
    snprintf(bus_id, (size_t)size, "0000:%02x:00.0", (unsigned int)bus_of(device) & 0xff);
    return CXU_SUCCESS;
}

typedef struct pci_address {
    unsigned int domain, bus, device, function;
} pci_address;

/* In hex: domain:bus:device.function, domain:bus:device or bus:device.function. A domain may have 8
 * digits, as tools print it. */
static bool parse_pci_address(const char *text, pci_address *out_address)
{
    pci_address all = {0}, no_function = {0}, no_domain = {0};
    int end = 0;
    if (strpbrk(text, "+-") != NULL)
        return false;
    if (sscanf(text, "%8x:%2x:%2x.%1x%n", &all.domain, &all.bus, &all.device, &all.function,
               &end) == 4 &&
        text[end] == '\0') {
        *out_address = all;
        return true;
    }
    if (sscanf(text, "%8x:%2x:%2x%n", &no_function.domain, &no_function.bus, &no_function.device,
               &end) == 3 &&
        text[end] == '\0') {
        *out_address = no_function;
        return true;
    }
    if (sscanf(text, "%2x:%2x.%1x%n", &no_domain.bus, &no_domain.device, &no_domain.function,
               &end) == 3 &&
        text[end] == '\0') {
        *out_address = no_domain;
        return true;
    }
    return false;
}

cxu_result cx_emu_call_device_get_by_pci_bus_id(CUdevice *out_device, const char *bus_id)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    pci_address address;
    if (out_device == NULL || bus_id == NULL || !parse_pci_address(bus_id, &address))
        return CXU_INVALID_VALUE;
    if (address.domain != 0 || address.device != 0 || address.function != 0)
        return CXU_INVALID_DEVICE;
    for (int ordinal = 0; ordinal < cx_emu_device_total(); ordinal++) {
        if ((unsigned int)bus_of(cx_emu_device_find(ordinal)) == address.bus) {
            *out_device = ordinal;
            return CXU_SUCCESS;
        }
    }
    return CXU_INVALID_DEVICE;
}
