/*
 * Memory of other processes of this machine (cuIpcOpenMemHandle, cuMemPoolImportPointer): of a
 * device, or of a pool of the host. Its pages are those of
 * the file in memory that the exporting process keeps behind its segment of addresses; this process
 * opens that file through /proc, which the system permits to the same user, and maps it. The pages
 * live as long as any process maps them. All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_SHARED_H
#define CX_EMU_SHARED_H

#include "emu/allocation.h"
#include "emu/process_file.h"
#include "emu/view.h"

/* The contents of a handle: the place of the memory. */
typedef struct cx_emu_shared_place {
    char mark[8];
    cx_emu_process_file where;
    uint64_t offset; /* in the file */
    uint64_t bytes;
    int32_t board;
    uint32_t host; /* 1: the host's memory, which it may touch here too */
} cx_emu_shared_place;

_Static_assert(sizeof(cx_emu_shared_place) <= sizeof(cxu_ipc_mem_handle), "it must fit");

/* Memory that is open here. */
typedef struct cx_emu_shared {
    cx_emu_shared_place place;
    cx_emu_allocation *allocation;
    unsigned int opened; /* the number of closes that the user still owes */
    unsigned char *user, *alias; /* the two mappings; equal with host access */
    cx_emu_view view;            /* the alias, if it is another address */
    size_t mapped_bytes;
    struct cx_emu_shared *next;
} cx_emu_shared;

/* Says where an allocation of a GPU, or a shareable one of the host, is. False: the program closed
 * the file behind it. */
bool cx_emu_shared_describe(const cx_emu_allocation *allocation, cx_emu_shared_place *out_place);

/* True if the place can be one: made by some process's driver of this kind. */
bool cx_emu_shared_is_place(const cx_emu_shared_place *place);

/* The memory if it is open here, for an imported pool or for a context (NULL), or NULL. */
cx_emu_shared *cx_emu_shared_find(const cx_emu_shared_place *place, const struct cx_emu_pool *pool);

/* A user frees memory of an imported pool: true if it was imported once more than it was freed. */
bool cx_emu_shared_still_open(cx_emu_allocation *allocation);

/*
 * Opens it for a context or (NULL) an imported pool, as memory of `device`.
 *
 * CXU_INVALID_HANDLE: the process or its memory is gone, or belongs to another user;
 * CXU_OUT_OF_MEMORY.
 */
cxu_result cx_emu_shared_open(const cx_emu_shared_place *place, cx_emu_device *device,
                              cx_emu_context *context, cx_emu_shared **out_shared);

/* Unmaps it: for allocation.c, once nothing uses it. */
void cx_emu_shared_close(cx_emu_shared *shared);

#endif
