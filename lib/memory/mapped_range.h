/*
 * One range of a device's addresses, larger than its memory. Chunks of it are mapped where memory
 * is needed. Free memory between live blocks is as useful as elsewhere, since it can be moved.
 *
 * Each chunk is a mapping of its own: large ones cost few calls of the driver, small ones move
 * easily. Knows nothing of blocks. The caller maps the memory that a block needs before the block
 * is used, and names free parts when memory is short. No lock: one thread does at a time. Nothing
 * needs a current context.
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
    bool exportable; /* true as long as the process can have more exportable memory */
    cx_mapped_chunk *chunks;
    CUmemGenericAllocationHandle *spare; /* memory of one chunk each that is mapped nowhere */
    size_t spare_count, spare_capacity;
    CUdevice peers[CX_MAPPED_RANGE_PEERS]; /* devices that reach all of it, besides its own */
    int peer_count;
} cx_mapped_range;

/*
 * Reserves at least `bytes` for a device, in chunks of about `chunk_bytes`, rounded to at least one
 * whole step of the driver; nothing is mapped. CXU_NOT_SUPPORTED: the device or its driver has no
 * virtual memory; CXU_OUT_OF_MEMORY.
 */
cxu_result cx_mapped_range_open(cx_mapped_range *range, const cx_driver *driver, CUdevice device,
                                size_t bytes, size_t chunk_bytes);

/* Checks that a device supports a range, and returns the driver's steps in *out_step_bytes, if not
 * NULL. CXU_NOT_SUPPORTED. */
cxu_result cx_mapped_range_check(const cx_driver *driver, CUdevice device, size_t *out_step_bytes);

/* Unmaps everything and frees the addresses. None of it is in use. */
void cx_mapped_range_close(cx_mapped_range *range);

/*
 * Maps the chunks of a part that are not mapped yet.
 * CXU_OUT_OF_MEMORY and other errors of the driver: nothing more is mapped, and memory already
 * created is kept as spare. Parts of it that were mapped before keep their contents.
 */
cxu_result cx_mapped_range_map(cx_mapped_range *range, size_t offset, size_t bytes);

/* The bytes of the chunks that a part still needs. */
size_t cx_mapped_range_lacks(const cx_mapped_range *range, size_t offset, size_t bytes);

/* Finds the first row of mapped chunks that lie wholly in a part, at least `wanted_bytes` if there
 * are that many: returns their bytes, or 0 if there is none. */
size_t cx_mapped_range_find(const cx_mapped_range *range, size_t offset, size_t bytes,
                            size_t wanted_bytes, size_t *out_offset);

/*
 * Unmaps the chunks of a part. Their memory is kept for later mappings. No work uses the part any
 * more, so a driver need not wait.
 */
void cx_mapped_range_unmap(cx_mapped_range *range, size_t offset, size_t bytes);

/* Frees memory that is mapped nowhere: returns its bytes. */
size_t cx_mapped_range_settle(cx_mapped_range *range);

/* Lets another device reach all mappings, present and later. After an error of the driver it may
 * reach a part. */
cxu_result cx_mapped_range_share(cx_mapped_range *range, CUdevice peer);

/* Withdraws that. Returns the driver's first error: the device may still reach a part, but no later
 * mapping. */
cxu_result cx_mapped_range_withdraw(cx_mapped_range *range, CUdevice peer);

#endif
