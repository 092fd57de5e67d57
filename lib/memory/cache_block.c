#include "memory/cache_block.h"

cx_fit_store cx_cache_blocks = {.stride = sizeof(cx_cache_block)};
cx_eventcount cx_cache_block_counts = CX_EVENTCOUNT_INIT;
