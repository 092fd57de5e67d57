/*
 * Emulated devices: the host device and GPUs; their attributes and primary contexts.
 */
#ifndef CX_EMU_DEVICE_H
#define CX_EMU_DEVICE_H

#include "emu/base/context_record.h"
#include "emu/emu.h"
#include <stdbool.h>

typedef struct cx_emu_arena cx_emu_arena; /* arena.h: a GPU's address range and its pages */

typedef struct cx_emu_device {
    int ordinal;
    int board;        /* number of the emulated board, whatever CUDA_VISIBLE_DEVICES says; -1: the
                       * host */
    bool host;        /* the host device */
    cx_emu_gpu gpu;   /* which GPU it is, unless it is the host */
    size_t memory_bytes; /* total; for the host device, the machine's */
    size_t used_bytes;   /* by allocations and contexts; never above memory_bytes on a GPU */
    size_t kept_bytes;   /* by pools, freed already; with used_bytes never above it either */
    size_t context_bytes; /* of them, for each open context but green ones */
    cx_emu_arena *arena; /* NULL on the host device, and before the first allocation */
    cx_emu_context *primary; /* never NULL: the same handle for the life of the process */
    unsigned int primary_retains;
    unsigned int primary_flags;       /* as the user set them: without MAP_HOST */
    _Atomic int lost;                 /* the error of a lost device; written under the lock */
} cx_emu_device;

/* The device of an ordinal, or NULL. Needs no lock: devices change only in cx_emu_configure. */
cx_emu_device *cx_emu_device_find(CUdevice ordinal);
int cx_emu_device_total(void);

/* The GPU that is a board, or NULL: it is not visible. Needs no lock either. */
cx_emu_device *cx_emu_device_of_board(int board);

/* As cuDevicePrimaryCtxRetain and _Release; they may release the lock meanwhile. Lock held. */
cxu_result cx_emu_primary_retain(cx_emu_device *device);
cxu_result cx_emu_primary_release(cx_emu_device *device);

/* Builds the device list from a configuration and CUDA_VISIBLE_DEVICES, in place of devices that
 * have neither contexts nor memory any more. Lock held. */
void cx_emu_devices_build(const cx_emu_config *config);

/* True if a primary context is retained or memory is held anywhere. Lock held. */
bool cx_emu_devices_busy(void);

/* True if `device` can reach the memory of `peer` directly: two different GPUs can. */
bool cx_emu_device_peer(const cx_emu_device *device, const cx_emu_device *peer);

/* The compute capability of the GPUs, 7.5 as 75: the newest code of a fat binary up to it is
 * chosen. */
int cx_emu_target(void);

/* The value of an attribute; false if there is no such attribute (attribute.c). */
bool cx_emu_attribute(const cx_emu_device *device, cxu_device_attribute attribute, int *out_value);

/* The value of a known attribute. */
static inline int cx_emu_attribute_value(const cx_emu_device *device,
                                         cxu_device_attribute attribute)
{
    int value = 0;
    cx_emu_attribute(device, attribute, &value);
    return value;
}

/* True if every device reaches managed memory while the host does (attribute.c). */
bool cx_emu_managed_access_is_concurrent(void);

/* The largest pitch of a 2D copy, the alignment of cuMemAlloc, and the pitch granularity. */
#define CX_EMU_MAX_PITCH 2147483647
#define CX_EMU_ALIGNMENT 512

/* Memory of a GPU of at least so many bytes has pages of its own, as on GPUs, and is aligned to
 * them. */
#define CX_EMU_LARGE_BYTES ((size_t)1 << 20)
#define CX_EMU_LARGE_ALIGNMENT ((size_t)2 << 20)
#define CX_EMU_TEXTURE_ALIGNMENT 512

/* Priorities of streams: the larger number is the lower priority. */
#define CX_EMU_PRIORITY_LEAST 0
#define CX_EMU_PRIORITY_GREATEST (-5)

#endif
