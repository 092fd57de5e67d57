/*
 * Memory of a device without an address of its own (cuMemCreate). Handles and mappings are counted,
 * and the last one frees it. All functions: lock "emu.state" held.
 *
 * Its pages are a file in memory, mapped once at `home`; each mapping shows the same pages again.
 * The file stays open only if the memory may be exported, so that a process may have any number of
 * them, and programs that close every descriptor do no harm.
 */
#ifndef CX_EMU_PHYSICAL_H
#define CX_EMU_PHYSICAL_H

#include "emu/base/driver_mapping.h"
#include "emu/base/handle.h"
#include "emu/device/device.h"
#include <sys/types.h>

typedef struct cx_emu_physical {
    cx_emu_handle_slot slot;
    cx_emu_device *device;
    size_t bytes;
    size_t charged_bytes; /* of the device's quota; 0 for memory that another process made */
    cxu_mem_properties properties;
    uint64_t id;     /* never used twice */
    size_t handles;  /* the number of releases that the user still owes */
    size_t mappings;
    unsigned char *home;
    cx_emu_driver_mapping driver_mapping; /* that */
    int file; /* -1: closed */
    dev_t file_device;
    ino_t file_number;
    struct cx_emu_physical *previous, *next; /* of the open files */
} cx_emu_physical;

/*
 * Memory with one handle; `bytes` is a multiple of CX_EMU_MEMORY_GRANULARITY. May wait, with the
 * lock released, for memory that is being freed. CXU_OUT_OF_MEMORY.
 */
cxu_result cx_emu_physical_create(cx_emu_device *device, size_t bytes,
                                  const cxu_mem_properties *properties,
                                  cx_emu_physical **out_physical);

/* The memory of a live handle, or NULL. */
cx_emu_physical *cx_emu_physical_find(CUmemGenericAllocationHandle handle);

static inline CUmemGenericAllocationHandle cx_emu_physical_handle(const cx_emu_physical *physical)
{
    return (CUmemGenericAllocationHandle)(uintptr_t)physical;
}

/* Drops a handle; the memory may be gone afterwards. */
void cx_emu_physical_release(cx_emu_physical *physical);

/* Maps its first `bytes` at `place`, which is unused; false: the host cannot. */
bool cx_emu_physical_map(cx_emu_physical *physical, unsigned char *place, size_t bytes);

/* Drops a mapping; the memory may be gone afterwards. The place was cleared before. */
void cx_emu_physical_unmap(cx_emu_physical *physical);

/* True if there is any. */
bool cx_emu_physical_exists(void);

/* Makes a new descriptor of its file. CXU_INVALID_VALUE: it may not be exported, or the program
 * closed the file; CXU_OPERATING_SYSTEM: no more descriptors. */
cxu_result cx_emu_physical_export(const cx_emu_physical *physical, int *out_file);

/* Finds the memory behind a descriptor and adds a handle. CXU_INVALID_VALUE: it is none of ours;
 * CXU_INVALID_DEVICE: its device is not visible here; CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_physical_import(int file, cx_emu_physical **out_physical);

#endif
