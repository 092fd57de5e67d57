#include "emu/device/device.h"

#include "emu/memory/arena.h"
#include "emu/base/machine.h"
#include "emu/memory/pool.h"
#include "emu/base/slot.h"
#include <stdio.h>
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

static void remove_all(void)
{
    for (int i = 0; i < total; i++)
        if (devices[i].arena != NULL)
            cx_emu_arena_destroy(devices[i].arena);
    cx_emu_pools_close_default();
    total = 0;
}

void cx_emu_devices_build(const cx_emu_config *config)
{
    int boards[CX_EMU_DEVICES_MAX];
    int visible = cx_emu_boards_visible(getenv("CUDA_VISIBLE_DEVICES"), config->gpus, boards);
    remove_all();
    if (config->host_device)
        add_device(HOST_BOARD, CX_EMU_GPU_DEFAULT, cx_emu_machine_total_bytes(), 0);
    for (int i = 0; i < visible; i++)
        add_device(boards[i], config->gpu, config->gpu_memory_bytes, config->context_bytes);
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

/* splitmix64: neighbouring boards get unrelated numbers. */
static uint64_t mix_bits(uint64_t value)
{
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

void cx_emu_board_uuid(int board, cxu_uuid *out_uuid)
{
    uint64_t seed = 0x6374787274000000u + (uint64_t)(board + 1);
    uint64_t halves[2] = {mix_bits(seed), mix_bits(~seed)};
    for (int i = 0; i < 16; i++)
        out_uuid->bytes[i] = (char)(halves[i / 8] >> 8 * (i % 8));
    /* RFC 4122: version 4, variant 1 */
    out_uuid->bytes[6] = (char)((out_uuid->bytes[6] & 0x0f) | 0x40);
    out_uuid->bytes[8] = (char)((out_uuid->bytes[8] & 0x3f) | 0x80);
}

void cx_emu_board_uuid_text(int board, char out_text[CX_EMU_UUID_TEXT_BYTES])
{
    cxu_uuid uuid;
    cx_emu_board_uuid(board, &uuid);
    char *end = out_text + sprintf(out_text, "GPU-");
    for (int i = 0; i < 16; i++)
        end += sprintf(end, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
                       (unsigned char)uuid.bytes[i]);
}
