#include "layer/check/order_work.h"

#include "layer/check/culprit.h"

#include <stdlib.h>
#include <string.h>

/* Beyond so many the first one counts as if it had told all. */
enum { WORKS_MOST = 4096 };

struct cx_order_work {
    uint64_t ticket;
    unsigned pending; /* parts that will tell what they touch, and the call itself */
    bool under_way;   /* the call, which still refers to this */
    bool judged;      /* before it was over, since there were too many */
    cx_order_piece *piece;
    cx_stream_clock_kept *clock;
    uint64_t turn; /* cx_object_turn at its begin */
    cx_access *all;
    size_t count, capacity;
    uintptr_t forget_begin, forget_end;
    cx_order_work *next;
};

static cx_order_work *first, **end = &first;
static unsigned work_count;
static uint64_t last_ticket;
static bool fault_told;

/* ---- findings ---- */

static const cx_object *memory_at(uintptr_t address)
{
    const cx_object *memory = cx_object_find_memory(address);
    return memory != NULL ? memory : cx_object_find_ended_memory(address);
}

static bool is_of_host(const cx_object *memory)
{
    return memory != NULL && (memory->key.kind == CX_OBJECT_PINNED_MEMORY ||
                              memory->key.kind == CX_OBJECT_REGISTERED_MEMORY);
}

static cx_check_kind kind_of(const cx_order_piece *one, const cx_order_piece *other,
                             const cx_object *memory)
{
    if (one->what == CX_ORDER_ALLOCATION)
        return CX_KIND_ORDER_BEFORE_ALLOC;
    if (other->what == CX_ORDER_FREE && other->slot == CX_SLOT_mem_free)
        return CX_KIND_MEMORY_ASYNC_FREED;
    if (other->what == CX_ORDER_FREE)
        return CX_KIND_ORDER_BEFORE_FREE;
    if (is_of_host(memory) && other->by_host)
        return CX_KIND_ORDER_HOST;
    return one->what == CX_ORDER_KERNEL || other->what == CX_ORDER_KERNEL ? CX_KIND_ORDER_KERNEL
                                                                          : CX_KIND_ORDER_COPY;
}

static void note_piece(cx_finding *finding, const char *role, const cx_order_piece *piece)
{
    char stream[48];
    cx_stream_clock_stream_text(piece->stream, stream, sizeof stream);
    cx_finding_note(finding, role, piece->where, "%s in %s",
                    cx_origin_call(piece->where, piece->slot), stream);
}

static cx_finding begin_finding(cx_check_kind kind, const cx_order_piece *piece)
{
    cx_check_thread thread = {.number = piece->thread};
    memcpy(thread.name, piece->thread_name, sizeof thread.name);
    return cx_finding_begin(kind, &thread, (int)piece->slot, CXU_SUCCESS, piece->where);
}

/* cuMemFree asks that all uses are over (T12), and an allocation is none. */
static bool is_free_without_use(const cx_order_piece *one, const cx_order_piece *other)
{
    return one->what == CX_ORDER_ALLOCATION && other->slot == CX_SLOT_mem_free;
}

static void raise_finding(const cx_order_piece *one, const cx_order_piece *other, uintptr_t begin,
                          uintptr_t end_of)
{
    const cx_object *memory = memory_at(begin);
    if (is_free_without_use(one, other))
        return;
    cx_finding finding = begin_finding(kind_of(one, other, memory), other);
    fault_told |= one->what == CX_ORDER_ALLOCATION || other->what == CX_ORDER_FREE;
    note_piece(&finding, "first", one);
    note_piece(&finding, "second", other);
    if (memory != NULL) {
        char text[64];
        cx_object_text(memory, text, sizeof text);
        cx_finding_note(&finding, "made", memory->made, "bytes %zu to %zu of %s",
                        (size_t)(begin - memory->key.value),
                        (size_t)(end_of - 1 - memory->key.value), text);
    }
    cx_finding_raise(&finding);
}

/* ---- conflicts ---- */

/* The judged work's last conflict with each line: work that is ordered after that one is ordered
 * after all. */
typedef struct conflict {
    cx_order_piece *earlier; /* NULL: none */
    uintptr_t begin, end;
} conflict;
static conflict conflicts[CX_STREAM_CLOCK_LINES];

static void widen(conflict *one, uintptr_t begin, uintptr_t end_of)
{
    one->begin = begin < one->begin ? begin : one->begin;
    one->end = end_of > one->end ? end_of : one->end;
}

static void note_conflict(cx_order_piece *earlier, uintptr_t begin, uintptr_t end_of)
{
    conflict *one = &conflicts[earlier->line];
    if (one->earlier == earlier)
        widen(one, begin, end_of);
    if (one->earlier != NULL && one->earlier->number >= earlier->number)
        return;
    if (one->earlier != NULL)
        cx_order_piece_drop(one->earlier);
    *one = (conflict){earlier, begin, end_of};
    earlier->references++;
}

static void tell_conflicts(const cx_order_piece *piece)
{
    for (int line = 0; line < CX_STREAM_CLOCK_LINES; line++) {
        conflict *one = &conflicts[line];
        if (one->earlier == NULL)
            continue;
        raise_finding(one->earlier, piece, one->begin, one->end);
        cx_order_piece_drop(one->earlier);
        one->earlier = NULL;
    }
}

/* ---- faults ---- */

/* It used memory that had been freed when it was submitted. */
static void judge_fault(const cx_order_work *work, uintptr_t address)
{
    const cx_object *memory = cx_object_find_ended_memory(address);
    if (cx_object_find_memory(address) != NULL || memory == NULL || memory->ended_turn > work->turn)
        return;
    cx_finding finding = begin_finding(CX_KIND_MEMORY_ENDED, work->piece);
    fault_told = true;
    cx_culprit_describe(&finding, CXU_ILLEGAL_ADDRESS);
    if (finding.record.note_count == 0)
        cx_finding_note_object(&finding, memory);
    cx_finding_raise(&finding);
}

bool cx_order_fault_told(void)
{
    return fault_told;
}

/* ---- the queue ---- */

static void free_work(cx_order_work *work)
{
    cx_order_piece_drop(work->piece);
    free(work->clock);
    free(work->all);
    free(work);
}

/* Memory that is freed later has had this use. */
static void judge_touch(const cx_order_work *work, const cx_access *touch)
{
    cx_access seen = *touch;
    if (touch->how == CX_ACCESS_FAULT) {
        judge_fault(work, touch->begin);
        seen.how = CX_ACCESS_READ;
    }
    cx_order_bytes_touch(work->piece, work->clock, &seen, note_conflict);
}

static void judge(const cx_order_work *work)
{
    const bool frees = work->piece->what == CX_ORDER_FREE;
    if (!frees)
        cx_order_bytes_forget(work->forget_begin, work->forget_end);
    for (size_t i = 0; i < work->count; i++)
        judge_touch(work, &work->all[i]);
    tell_conflicts(work->piece);
    if (frees)
        cx_order_bytes_forget(work->forget_begin, work->forget_end);
}

static void take_first(void)
{
    cx_order_work *work = first;
    first = work->next;
    if (first == NULL)
        end = &first;
    work_count--;
    judge(work);
    work->judged = true;
    if (!work->under_way)
        free_work(work);
}

static void judge_ready(void)
{
    while (first != NULL && (first->pending == 0 || work_count > WORKS_MOST))
        take_first();
    if (first == NULL)
        cx_order_bytes_trim(cx_stream_clock_host());
}

cx_order_work *cx_order_work_begin(cx_check_call *call, int line, cx_order_what what)
{
    cx_order_work *work = calloc(1, sizeof *work);
    cx_order_piece *piece = cx_order_piece_new();
    const uint64_t number = cx_stream_clock_count(line);
    cx_stream_clock_kept *clock = cx_stream_clock_keep(cx_stream_clock_of(line));
    if (work == NULL || piece == NULL || clock == NULL) {
        cx_region_give_up();
        free(work);
        free(piece);
        free(clock);
        return NULL;
    }
    piece->line = line;
    piece->number = number;
    piece->what = what;
    piece->slot = call->slot;
    piece->stream = cx_stream_clock_stream_of(line);
    piece->thread = call->thread->number;
    memcpy(piece->thread_name, call->thread->name, sizeof piece->thread_name);
    *work = (cx_order_work){
        .pending = 1, .under_way = true, .piece = piece, .clock = clock, .turn = cx_object_turn()};
    *end = work;
    end = &work->next;
    work_count++;
    return work;
}

void cx_order_work_touch(cx_order_work *work, const cx_access *touch)
{
    if (work->count == work->capacity) {
        size_t capacity = work->capacity != 0 ? 2 * work->capacity : 4;
        cx_access *all = reallocarray(work->all, capacity, sizeof *all);
        if (all == NULL) {
            cx_region_give_up();
            return;
        }
        work->all = all;
        work->capacity = capacity;
    }
    work->all[work->count++] = *touch;
}

void cx_order_work_forget(cx_order_work *work, uintptr_t begin, uintptr_t end_of)
{
    work->forget_begin = begin;
    work->forget_end = end_of;
}

void cx_order_work_after_host(cx_order_work *work)
{
    cx_stream_clock_kept *clock = cx_stream_clock_keep(cx_stream_clock_host());
    if (clock == NULL)
        return;
    free(work->clock);
    work->clock = clock;
}

void cx_order_work_by_host(cx_order_work *work)
{
    work->piece->by_host = true;
}

void cx_order_work_submit(cx_order_work *work, cx_origin where, bool failed)
{
    if (work == NULL)
        return;
    cx_access_log_ticket = 0;
    work->under_way = false;
    if (work->judged) {
        free_work(work);
        return;
    }
    work->piece->where = where;
    if (failed)
        work->count = work->forget_begin = work->forget_end = 0;
    work->pending--;
    judge_ready();
}

/* ---- what the driver tells ---- */

void cx_order_work_ask(cx_order_work *work)
{
    work->ticket = cx_access_log_ticket = ++last_ticket;
}

static cx_order_work *find(uint64_t ticket)
{
    cx_order_work *work = first;
    while (work != NULL && work->ticket != ticket)
        work = work->next;
    return work;
}

static void promised(uint64_t ticket)
{
    cx_lock_enter(&cx_check_lock);
    cx_order_work *work = find(ticket);
    if (work != NULL)
        work->pending++;
    cx_lock_leave(&cx_check_lock);
}

static void failed(uint64_t ticket, const cx_access_log_failure *failure)
{
    cx_lock_enter(&cx_check_lock);
    const cx_order_work *work = find(ticket);
    if (work != NULL)
        cx_culprit_note(work->piece, failure);
    cx_lock_leave(&cx_check_lock);
}

static void told(uint64_t ticket, const cx_access *all, size_t count)
{
    cx_lock_enter(&cx_check_lock);
    cx_order_work *work = find(ticket);
    if (work != NULL) {
        for (size_t i = 0; i < count; i++)
            cx_order_work_touch(work, &all[i]);
        work->pending--;
        judge_ready();
    }
    cx_lock_leave(&cx_check_lock);
}

void cx_order_work_watch(void)
{
    static const cx_access_log_watcher watcher = {promised, failed, told};
    cx_access_log_watch(&watcher);
}
