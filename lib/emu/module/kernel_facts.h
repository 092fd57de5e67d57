/*
 * Facts about a kernel that its code and the device decide: what the host asks of functions, and
 * kernels of the kernels that they launch.
 */
#ifndef CX_EMU_KERNEL_FACTS_H
#define CX_EMU_KERNEL_FACTS_H

#include "emu/device/device.h"
#include "emu/module/code.h"

/* The code of a kernel and the device that runs it; borrows both. */
typedef struct cx_emu_kernel_place {
    const cx_emu_code *code;
    const cx_ptx_function *kernel;
    const cx_emu_device *device;
} cx_emu_kernel_place;

/* False: the attribute is none, or one that the function was told. */
bool cx_emu_kernel_fact(const cx_emu_kernel_place *place, cxu_func_attribute attribute,
                        int *out_value);

/* The bytes of dynamic shared memory that a launch may ask for, unless the function was told to
 * allow more. */
size_t cx_emu_kernel_dynamic_limit(const cx_emu_kernel_place *place);

/* The blocks of that size that a multiprocessor holds at once. */
int cx_emu_kernel_occupancy(const cx_emu_kernel_place *place, size_t block_threads,
                            size_t shared_bytes, size_t dynamic_limit);

#endif
