#include "emu/emu.h"

const cx_driver_table cx_emu_table = {
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    .slot = cx_emu_call_##slot,
#include "driver/symbols.def"
};
