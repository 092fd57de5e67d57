/*
 * One range of a device's addresses, larger than its memory, of which chunks are mapped where memory is needed: free
 * memory between live blocks is worth what it is anywhere else, since its chunks can be moved.
 *
 * Knows nothing of blocks. Who hands the range out maps what a block needs before the block is used, and says which parts
 * are free when memory is short. No lock: one thread does at a time. Nothing needs a current context.
 */
#ifndef CX_MEMORY_MAPPED_RANGE_H
#define CX_MEMORY_MAPPED_RANGE_H

#include "driver/driver.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CX_MAPPED_RANGE_PEERS 64

typedef struct cx_mapped_chunk {
    CUmemGenericAllocationHandle handle; /* 0: nothing is mapped */
    bool fresh;                          /* mapped by the call that is going on */
} cx_mapped_chunk;

typedef struct cx_mapped_range {
    const cx_driver *driver;
    CUdevice device;
    uintptr_t address;
    size_t bytes;
    size_t chunk_bytes;
    size_t mapped_bytes;
    cx_mapped_chunk *chunks;
    CUdevice peers[CX_MAPPED_RANGE_PEERS]; /* that reach all of it, besides the device */
    int peer_count;
} cx_mapped_range;

/*
 * Reserves at least `bytes` for a device; nothing is mapped. CXU_NOT_SUPPORTED: the device or its driver has no virtual
 * memory; CXU_OUT_OF_MEMORY.
 */
cxu_result cx_mapped_range_open(cx_mapped_range *range, const cx_driver *driver, CUdevice device, size_t bytes);

/* Unmaps everything and gives the addresses back. Nothing of it is in use. */
void cx_mapped_range_close(cx_mapped_range *range);

/* Whether all of a part is mapped. */
bool cx_mapped_range_has(const cx_mapped_range *range, size_t offset, size_t bytes);

/*
 * Maps what of a part is not mapped yet. CXU_OUT_OF_MEMORY and other errors of the driver: nothing has changed. Parts of
 * it that were mapped before keep their contents.
 */
cxu_result cx_mapped_range_map(cx_mapped_range *range, size_t offset, size_t bytes);

/* Bytes of the chunks that a part still needs. */
size_t cx_mapped_range_lacks(const cx_mapped_range *range, size_t offset, size_t bytes);

/*
 * Unmaps chunks that lie in a free part altogether, up to `wanted_bytes`, and gives them to the device. No work uses the
 * part any more: a driver need not wait. The bytes that were unmapped.
 */
size_t cx_mapped_range_unmap(cx_mapped_range *range, size_t offset, size_t bytes, size_t wanted_bytes);

/* Lets another device reach what is mapped, and what will be. Errors of the driver: it may reach a part. */
cxu_result cx_mapped_range_share(cx_mapped_range *range, CUdevice peer);

#endif
