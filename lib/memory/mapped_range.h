/*
 * One range of a device's addresses, larger than its memory, of which chunks are mapped where
 * memory is needed: free memory between live blocks is worth what it is anywhere else, since it can
 * be moved.
 *
 * Each chunk is a mapping of its own: large ones cost few calls of the driver, small ones move
 * easily. Knows nothing of blocks. Who hands the range out maps what a block needs before the block
 * is used, and says which parts are free when memory is short. No lock: one thread does at a time.
 * Nothing needs a current context.
 */
#ifndef CX_MEMORY_MAPPED_RANGE_H
#define CX_MEMORY_MAPPED_RANGE_H

#include "driver/driver.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CX_MAPPED_RANGE_PEERS 64

typedef struct cx_mapped_chunk {
    CUmemGenericAllocationHandle handle;
    bool mapped;
} cx_mapped_chunk;

typedef struct cx_mapped_range {
    const cx_driver *driver;
    CUdevice device;
    uintptr_t address;
    size_t bytes;
    size_t chunk_bytes;
    size_t mapped_bytes;
    bool exportable; /* the memory is, as long as the process can have more such */
    cx_mapped_chunk *chunks;
    CUmemGenericAllocationHandle *spare; /* memory of a chunk each that is mapped nowhere */
    size_t spare_count, spare_capacity;
    CUdevice peers[CX_MAPPED_RANGE_PEERS]; /* that reach all of it, besides the device */
    int peer_count;
} cx_mapped_range;

/*
 * Reserves at least `bytes` for a device, in chunks of about `chunk_bytes`, whole steps of the
 * driver's and at least one; nothing is mapped. CXU_NOT_SUPPORTED: the device or its driver has no
 * virtual memory; CXU_OUT_OF_MEMORY.
 */
cxu_result cx_mapped_range_open(cx_mapped_range *range, const cx_driver *driver, CUdevice device,
                                size_t bytes, size_t chunk_bytes);

/* Whether a device can have one, and the driver's steps: *out_step_bytes, if not NULL.
 * CXU_NOT_SUPPORTED. */
cxu_result cx_mapped_range_check(const cx_driver *driver, CUdevice device, size_t *out_step_bytes);

/* Unmaps everything and gives the addresses back. Nothing of it is in use. */
void cx_mapped_range_close(cx_mapped_range *range);

/*
 * Maps what of a part is not mapped yet.
 * CXU_OUT_OF_MEMORY and other errors of the driver: nothing more is mapped, and memory that was had
 * already is spare. Parts of it that were mapped before keep their contents.
 */
cxu_result cx_mapped_range_map(cx_mapped_range *range, size_t offset, size_t bytes);

/* Bytes of the chunks that a part still needs. */
size_t cx_mapped_range_lacks(const cx_mapped_range *range, size_t offset, size_t bytes);

/* Finds the first mapped chunks in a row that lie in a part altogether, at least `wanted_bytes` of
 * them if there are: their bytes, or 0 if there is none. */
size_t cx_mapped_range_find(const cx_mapped_range *range, size_t offset, size_t bytes,
                            size_t wanted_bytes, size_t *out_offset);

/*
 * Unmaps the chunks that a part consists of. Their memory is kept for what is mapped next. No work
 * uses the part any more: a driver need not wait.
 */
void cx_mapped_range_unmap(cx_mapped_range *range, size_t offset, size_t bytes);

/* Gives memory that is mapped nowhere back to the device: its bytes. */
size_t cx_mapped_range_settle(cx_mapped_range *range);

/* Lets another device reach what is mapped, and what will be. Errors of the driver: it may reach a
 * part. */
cxu_result cx_mapped_range_share(cx_mapped_range *range, CUdevice peer);

/* Takes that back. The first error of the driver: it may reach a part still, but nothing that is
 * mapped later. */
cxu_result cx_mapped_range_withdraw(cx_mapped_range *range, CUdevice peer);

#endif
