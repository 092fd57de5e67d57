#include "emu/device/device.h"

#include "emu/base/machine.h"
#include "emu/base/slot.h"
#include "emu/device/visible_devices.h"
#include <stdlib.h>

#define HOST_BOARD (-1)

static cx_emu_device devices[CX_EMU_DEVICES_MAX];
static int total;

cx_emu_device *cx_emu_device_find(CUdevice ordinal)
{
    return ordinal >= 0 && ordinal < total ? &devices[ordinal] : NULL;
}

int cx_emu_device_total(void)
{
    return total;
}

static void add_device(int board, cx_emu_gpu gpu, size_t memory_bytes, size_t context_bytes)
{
    cx_emu_device *device = &devices[total];
    *device = (cx_emu_device){
        .ordinal = total,
        .board = board,
        .host = board == HOST_BOARD,
        .gpu = gpu,
        .memory_bytes = memory_bytes,
        .context_bytes = context_bytes,
        .primary = cx_emu_slot_at((size_t)total),
    };
    device->primary->device = device;
    device->primary->flags = 0;
    total++;
}

void cx_emu_devices_build(const cx_emu_config *config)
{
    int boards[CX_EMU_DEVICES_MAX];
    int visible = cx_emu_visible_devices(getenv("CUDA_VISIBLE_DEVICES"), config->gpus, boards);
    total = 0;
    if (config->host_device)
        add_device(HOST_BOARD, CX_EMU_GPU_DEFAULT, cx_emu_machine_total_bytes(), 0);
    for (int i = 0; i < visible; i++)
        add_device(boards[i], config->gpu, config->gpu_memory_bytes, config->context_bytes);
}

cx_emu_device *cx_emu_device_of_board(int board)
{
    for (int i = 0; i < total; i++)
        if (!devices[i].host && devices[i].board == board)
            return &devices[i];
    return NULL;
}

bool cx_emu_devices_busy(void)
{
    for (int i = 0; i < total; i++)
        if (devices[i].primary_retains != 0 || devices[i].used_bytes != 0)
            return true;
    return false;
}

bool cx_emu_device_peer(const cx_emu_device *device, const cx_emu_device *peer)
{
    return device != peer && !device->host && !peer->host;
}
