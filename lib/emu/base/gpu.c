#include "emu/base/gpu.h"

#include <string.h>

typedef struct gpu_model {
    const char *word, *name;
    size_t memory_bytes;
} gpu_model;

static const gpu_model models[CX_EMU_GPUS] = {
    [CX_EMU_GPU_DEFAULT] = {.word = "default", .name = "ctxrt emulated GPU"},
#define CX_GPU(slot, text, product, memory) \
    [CX_EMU_GPU_##slot] = {text, "ctxrt emulated " product, memory},
#include "emu/base/gpus.def"
};

typedef struct gpu_row {
    cxu_device_attribute attribute;
    int values[CX_EMU_GPUS - 1];
} gpu_row;

static const gpu_row rows[] = {
#define CX_GPU_VALUE(attribute, ...) {CXU_ATTRIBUTE_##attribute, {__VA_ARGS__}},
#include "emu/base/gpus.def"
};

bool cx_emu_gpu_of(const char *word, cx_emu_gpu *out_gpu)
{
    for (int i = 0; i < CX_EMU_GPUS; i++) {
        if (strcmp(word, models[i].word) == 0) {
            *out_gpu = (cx_emu_gpu)i;
            return true;
        }
    }
    return false;
}

const char *cx_emu_gpu_name(cx_emu_gpu gpu)
{
    return models[gpu].name;
}

size_t cx_emu_gpu_memory(cx_emu_gpu gpu)
{
    return models[gpu].memory_bytes;
}

bool cx_emu_gpu_value(cx_emu_gpu gpu, cxu_device_attribute attribute, int *out_value)
{
    if (gpu == CX_EMU_GPU_DEFAULT)
        return false;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].attribute == attribute) {
            *out_value = rows[i].values[gpu - 1];
            return true;
        }
    }
    return false;
}
