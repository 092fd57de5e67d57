/*
 * Memory of other processes of this machine (cuIpcOpenMemHandle, cuMemPoolImportPointer): of a
 * device, or of a pool of the host. Its pages are those of the sealed file that the exporting
 * process keeps behind its segment of addresses; this process opens that file through /proc, checks
 * all that the handle says, and maps the memory. The pages live as long as any process maps them.
 * All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_SHARED_H
#define CX_EMU_SHARED_H

#include "emu/base/driver_mapping.h"
#include "emu/memory/allocation.h"

/* The contents of a handle: all of it, so that every change of a handle is seen. */
typedef struct cx_emu_shared_place {
    char mark[8];
    cx_emu_process_file where;
    uint64_t offset; /* in the file */
    uint64_t id;     /* of the export */
} cx_emu_shared_place;

_Static_assert(sizeof(cx_emu_shared_place) == sizeof(cxu_ipc_mem_handle), "it must fill it");
_Static_assert(sizeof(cx_emu_shared_place) == sizeof(cxu_mem_pool_pointer), "it must fill it");

/* Exported memory that was found, and is not mapped yet. */
typedef struct cx_emu_shared_offer {
    cx_emu_shared_place place;
    cx_emu_export facts;
    int file;
} cx_emu_shared_offer;

/* Memory that is open here. */
typedef struct cx_emu_shared {
    cx_emu_shared_place place;
    cx_emu_export facts;
    cx_emu_allocation *allocation;
    unsigned int opened; /* the number of closes that the user still owes */
    unsigned char *user, *alias; /* the two mappings; equal with host access */
    cx_emu_driver_mapping driver_mapping; /* the alias, if it is another address */
    size_t mapped_bytes;
    struct cx_emu_shared *next;
} cx_emu_shared;

/*
 * Lets other processes open an allocation of a GPU, or a shareable one of the host, as memory of a
 * pool or (0) of none, and says where it is.
 *
 * CXU_NOT_SUPPORTED: the program closed the file behind it; CXU_OUT_OF_MEMORY;
 * CXU_OPERATING_SYSTEM.
 */
cxu_result cx_emu_shared_describe(const cx_emu_allocation *allocation, uint64_t origin,
                                  cx_emu_shared_place *out_place);

/* The memory if it is open here, for an imported pool or for a context (NULL), or NULL. */
cx_emu_shared *cx_emu_shared_find(const cx_emu_shared_place *place, const struct cx_emu_pool *pool);

/* Finds exported memory by what a handle, which may be forged, says; end the offer. False: a
 * driver of this kind and user exports no such memory, or not any more. */
bool cx_emu_shared_look(const cx_emu_shared_place *place, cx_emu_shared_offer *out_offer);

/* True if the process that exported it has freed it, and still runs. */
bool cx_emu_shared_is_withdrawn(const cx_emu_shared *shared);

void cx_emu_shared_offer_end(cx_emu_shared_offer *offer);

/* A user frees memory of an imported pool: true if it was imported once more than it was freed. */
bool cx_emu_shared_still_open(cx_emu_allocation *allocation);

/* Opens it for a context or (NULL) an imported pool, as memory of `device`. CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_shared_open(const cx_emu_shared_offer *offer, cx_emu_device *device,
                              cx_emu_context *context, cx_emu_shared **out_shared);

/* Unmaps it: for allocation.c, once nothing uses it. */
void cx_emu_shared_close(cx_emu_allocation *allocation);

#endif
