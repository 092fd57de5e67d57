#include "driver/driver.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    static cxu_result missing_##slot CX_DECLARE(arity, parameters)            \
    {                                                                         \
        return CXU_NOT_SUPPORTED;                                             \
    }
#include "driver/symbols.def"

const cx_driver_table cx_driver_missing = {
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    .slot = missing_##slot,
#include "driver/symbols.def"
};
