/*
 * The memory of a segment that other processes may open: a table of facts behind the segment in its
 * file (sealed_file.h), with an entry for each place at which memory may begin. The table takes
 * pages only where memory was exported. No function takes a lock.
 */
#ifndef CX_EMU_EXPORT_H
#define CX_EMU_EXPORT_H

#include "emu/base/sealed_file.h"

#include "driver/cuda_abi.h"

typedef struct cx_emu_export {
    uint64_t id; /* random, and repeated by the handle; 0: nothing is exported */
    uint64_t bytes;
    uint64_t origin; /* its pool's; 0: memory of cuMemAlloc */
    int32_t board;
    uint32_t host; /* 1: the host's memory, which it may touch in the other process too */
} cx_emu_export;

/* The size of a segment's table. */
size_t cx_emu_export_table_bytes(size_t segment_bytes);

/* Writes the entry of the memory at an offset, so that others can open it. CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_export_write(int file, size_t segment_bytes, size_t offset,
                               const cx_emu_export *entry);

/* Empties the entry: nobody opens the memory from now on. */
void cx_emu_export_withdraw(int file, size_t segment_bytes, size_t offset);

/* Reads an entry of another process's file. False: no memory with this id is exported there. */
bool cx_emu_export_read(int file, const cx_emu_sealed *label, uint64_t offset, uint64_t id,
                        cx_emu_export *out_entry);

#endif
