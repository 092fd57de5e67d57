#include "memory/owed.h"

#include "base/error.h"
#include "memory/address_index.h"

/* A program may never free its pointers from before a reset: no request looks for long. */
enum { ASIDE_MAX = 8 };

/* Keeps the last error. */
static void give_all(const cx_owed_source *source, const cx_block *aside, int count)
{
    cx_error_saved saved;
    if (count == 0)
        return;
    cx_error_save(&saved);
    while (count > 0)
        source->give(source->request, &aside[--count]);
    cx_error_restore(&saved);
}

/* A custom allocator's address is the user's choice. */
static bool is_to_be_avoided(const cx_block *block)
{
    const cx_allocator *allocator = block->allocator;
    return (allocator == NULL || allocator->vtable.alloc == NULL) &&
           cx_pointers_is_owed(block->pointer);
}

/* The memory set aside is given back only once there is other memory: a driver would hand it out
 * again. */
ctxrt_status cx_owed_take_other(const cx_owed_source *source, cx_block *out_block)
{
    cx_block aside[ASIDE_MAX];
    cx_error_saved saved;
    int count = 0;
    ctxrt_status status = source->take(source->request, out_block);
    while (status == CTXRT_SUCCESS && count < ASIDE_MAX && is_to_be_avoided(out_block)) {
        if (count == 0)
            cx_error_save(&saved);
        aside[count++] = *out_block;
        status = source->take(source->request, out_block);
    }
    if (status != CTXRT_SUCCESS && count > 0) {
        *out_block = aside[--count];
        status = CTXRT_SUCCESS;
        cx_error_restore(&saved);
    }
    give_all(source, aside, count);
    return status;
}
