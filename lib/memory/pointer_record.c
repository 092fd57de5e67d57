#include "memory/pointer_record.h"

#include "base/error.h"
#include "memory/ranges.h"

/* Taken while a cache's locks are held, which are behind "pool". */
static cx_pool records =
    CX_POOL_INIT_RANKED(POINTER_RECORDS, "pointer record", 12, cx_pointer_record);

cx_pointer_record *cx_pointer_record_make(cx_pointer_kind kind)
{
    cx_pointer_record *record = cx_pool_take(&records);
    if (record == NULL) {
        (void)cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for the record of a pointer");
        return NULL;
    }
    record->kind = kind;
    record->block = (cx_block){0};
    return record;
}

void cx_pointer_record_drop(cx_pointer_record *record)
{
    cx_pool_put_back(&records, record);
}

uint32_t cx_pointer_record_index(const cx_pointer_record *record)
{
    return cx_pool_slot_of(record)->index;
}

cx_pointer_record *cx_pointer_record_at(uint32_t index)
{
    return cx_pool_at(&records, index);
}

ctxrt_status cx_pointer_record_enter(const cx_pointer_record *record)
{
    const cx_block *block = &record->block;
    const cx_range_view view = {
        .begin = (uintptr_t)block->pointer,
        .size_bytes = block->size_bytes,
        .context = block->context,
        .epoch = block->epoch,
        .kind = record->kind == CX_POINTER_MANAGED ? CTXRT_MEMORY_MANAGED
                : record->kind == CX_POINTER_ASYNC ? CTXRT_MEMORY_DEVICE
                                                   : CTXRT_MEMORY_PINNED,
        .stays = record->kind == CX_POINTER_ASYNC,
        .callers = record->kind == CX_POINTER_REGISTERED,
    };
    return record->kind == CX_POINTER_DEVICE ? CTXRT_SUCCESS : cx_ranges_add(&view);
}

void cx_pointer_record_leave(const cx_pointer_record *record)
{
    const cx_block *block = &record->block;
    if (record->kind != CX_POINTER_DEVICE)
        cx_ranges_remove(block->context, block->epoch, (uintptr_t)block->pointer, CX_FREED_BY_USER);
}
