/*
 * The driver table: one function pointer for each row of symbols.def. A driver, whether libcuda or
 * the embedded one, is known to everything above this room only as such a table.
 */
#ifndef CX_DRIVER_TABLE_H
#define CX_DRIVER_TABLE_H

#include "driver/cuda_abi_graph.h"
#include "driver/parameters.h"
#include <stdbool.h>

/* Every slot can be called: one that the driver lacks returns CXU_NOT_SUPPORTED. */
typedef struct cx_driver_table {
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    cxu_result(*slot) CX_DECLARE(arity, parameters);
#include "driver/symbols.def"
} cx_driver_table;

typedef enum cx_slot {
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) CX_SLOT_##slot,
#include "driver/symbols.def"
    CX_SLOT_COUNT
} cx_slot;

/* The facts of a row besides its signature; rows[slot] for each slot. */
typedef struct cx_symbol {
    const char *name;   /* without the ABI's version: what cuGetProcAddress takes */
    const char *symbol; /* the exported symbol, version included: what messages name */
    int since;          /* CUDA version of this ABI, 12050 for 12.5 */
    int required;
} cx_symbol;

extern const cx_symbol cx_symbols[CX_SLOT_COUNT];

/* The driver's name of a result ("CUDA_ERROR_INVALID_VALUE") and its meaning; NULL if unknown. */
const char *cx_result_name(cxu_result result);
const char *cx_result_text(cxu_result result);

/* The CUDA Runtime API's name of an error ("cudaErrorInvalidValue"), which has the driver's value
 * where both have it; NULL if unknown. */
const char *cx_runtime_error_name(int error);

/* True if the error of work sticks according to the headers: later calls return it again. */
bool cx_result_sticks(cxu_result result);

#endif
