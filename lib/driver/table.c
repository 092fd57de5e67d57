#include "driver/table.h"

#include <stddef.h>

#define REQUIRED 1
#define OPTIONAL 0

const cx_symbol cx_symbols[CX_SLOT_COUNT] = {
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    [CX_SLOT_##slot] = {#name, #name #suffix, since, need},
#include "driver/symbols.def"
};

typedef struct result_row {
    cxu_result result;
    const char *name;
    const char *text;
} result_row;

static const result_row results[] = {
#define CX_RESULT(name, value, text) {CXU_##name, "CUDA_ERROR_" #name, text},
#include "driver/results.def"
};

static const result_row *find_result(cxu_result result)
{
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
        if (results[i].result == result)
            return &results[i];
    return NULL;
}

const char *cx_result_name(cxu_result result)
{
    if (result == CXU_SUCCESS)
        return "CUDA_SUCCESS";
    const result_row *row = find_result(result);
    return row != NULL ? row->name : NULL;
}

const char *cx_result_text(cxu_result result)
{
    const result_row *row = find_result(result);
    return row != NULL ? row->text : NULL;
}

const char *cx_runtime_error_name(int error)
{
    switch (error) {
#define CX_ERROR(name, spelling, value, text) \
    case value:                               \
        return "cuda" #spelling;
#include "driver/runtime_errors.def"
    default:
        return NULL;
    }
}

bool cx_result_sticks(cxu_result result)
{
    switch (result) {
    case CXU_ECC_UNCORRECTABLE:
    case CXU_NVLINK_UNCORRECTABLE:
    case CXU_CONTAINED:
    case CXU_ILLEGAL_ADDRESS:
    case CXU_LAUNCH_TIMEOUT:
    case CXU_ASSERT:
    case CXU_HARDWARE_STACK_ERROR:
    case CXU_ILLEGAL_INSTRUCTION:
    case CXU_MISALIGNED_ADDRESS:
    case CXU_INVALID_ADDRESS_SPACE:
    case CXU_INVALID_PC:
    case CXU_LAUNCH_FAILED:
    case CXU_TENSOR_MEMORY_LEAK:
    case CXU_MPS_CLIENT_TERMINATED:
    case CXU_EXTERNAL_DEVICE:
        return true;
    default:
        return false;
    }
}
