/* The GPUs that can be played (gpus.def). No function takes a lock. */
#ifndef CX_EMU_GPU_H
#define CX_EMU_GPU_H

#include "driver/cuda_abi.h"
#include <stdbool.h>
#include <stddef.h>

typedef enum cx_emu_gpu {
    CX_EMU_GPU_DEFAULT, /* made up; its attributes stand in attribute.c */
#define CX_GPU(slot, word, name, memory) CX_EMU_GPU_##slot,
#include "emu/base/gpus.def"
    CX_EMU_GPUS
} cx_emu_gpu;

/* The GPU that a word of CTXRT_EMU_GPU names; false: none. */
bool cx_emu_gpu_of(const char *word, cx_emu_gpu *out_gpu);

/* The name of the device. */
const char *cx_emu_gpu_name(cx_emu_gpu gpu);

/* The bytes of its memory; 0 for the default GPU. */
size_t cx_emu_gpu_memory(cx_emu_gpu gpu);

/* A value that differs from the default GPU's; false: it does not. */
bool cx_emu_gpu_value(cx_emu_gpu gpu, cxu_device_attribute attribute, int *out_value);

#endif
