#include "emu/schedule/shared_event.h"

#include "base/file.h"
#include "emu/base/process_life.h"
#include "emu/base/refusal.h"
#include "emu/schedule/schedule.h"
#include "emu/base/state.h"
#include "emu/device/sticky.h"
#include "emu/schedule/stream.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define POLL_US_MAX 500u
#define LOOKS 16 /* for the number between two questions whether a process lives */

static const char mark[8] = "ctxipe2";

/* Written by its owner alone. */
typedef struct shared_entry {
    _Atomic uint64_t owner;  /* the process, as in process_life.h; 0: free */
    _Atomic uint64_t number; /* of the recording; 0: none yet, or none any more */
} shared_entry;

typedef struct shared_page {
    _Atomic uint64_t given;    /* the number that was given last */
    _Atomic uint64_t recorded; /* the highest number that was announced */
    _Atomic uint32_t used;     /* no entry from here on was ever taken */
    shared_entry entries[CX_EMU_SHARED_RECORDS];
} shared_page;

/* Behind the page in its file. */
typedef struct event_facts {
    int32_t board;
    uint32_t reserved;
} event_facts;

struct cx_emu_shared_event {
    int references;
    unsigned int looks;
    uint64_t self; /* this process */
    shared_page *page;
    int board;
    bool own; /* made here */
    cx_emu_process_file where; /* if it is */
};

static int pending;

/* ---- making and opening ---- */

static cxu_result map_file(int file, int board, cx_emu_shared_event **out_shared)
{
    cx_emu_shared_event *shared = calloc(1, sizeof *shared);
    void *mapped;

    if (shared == NULL)
        return CXU_OUT_OF_MEMORY;
    mapped = mmap(NULL, sizeof(shared_page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) {
        cx_emu_refused_by_system("mmap", sizeof(shared_page));
        free(shared);
        return CXU_OUT_OF_MEMORY;
    }
    madvise(mapped, sizeof(shared_page), MADV_DONTFORK); /* a forked child has no events (I4) */
    shared->references = 1;
    shared->self = cx_emu_process_self();
    shared->page = mapped;
    shared->board = board;
    *out_shared = shared;
    return CXU_SUCCESS;
}

cxu_result cx_emu_shared_event_create(int board, cx_emu_shared_event **out_shared)
{
    const event_facts facts = {.board = board};
    cx_emu_process_file where;
    cxu_result result;
    int file;

    cx_emu_refusal_begin();
    file = cx_emu_sealed_file_create(CX_EMU_SEALED_EVENT, sizeof(shared_page), &facts,
                                     sizeof facts);
    if (file < 0)
        return CXU_OUT_OF_MEMORY;
    result = cx_emu_process_file_name(file, CX_EMU_SEALED_EVENT, &where)
                 ? map_file(file, board, out_shared)
                 : CXU_OUT_OF_MEMORY;
    if (result != CXU_SUCCESS) {
        cx_file_close(file);
        return result;
    }
    (*out_shared)->own = true;
    (*out_shared)->where = where;
    return CXU_SUCCESS;
}

bool cx_emu_shared_event_describe(const cx_emu_shared_event *shared,
                                  cx_emu_shared_event_place *out_place)
{
    if (!shared->own || !cx_emu_process_file_is(&shared->where, shared->where.file))
        return false;
    *out_place = (cx_emu_shared_event_place){.where = shared->where};
    memcpy(out_place->mark, mark, sizeof mark);
    return true;
}

static bool is_place(const cx_emu_shared_event_place *place)
{
    return memcmp(place->mark, mark, sizeof mark) == 0 && place->reserved[0] == 0 &&
           place->reserved[1] == 0;
}

cxu_result cx_emu_shared_event_open(const cx_emu_shared_event_place *place,
                                    cx_emu_shared_event **out_shared)
{
    cxu_result result = CXU_INVALID_HANDLE;
    cx_emu_sealed label;
    event_facts facts;
    int file;

    cx_emu_refusal_begin();
    if (!is_place(place))
        return CXU_INVALID_HANDLE;
    file = cx_emu_process_file_open(&place->where, CX_EMU_SEALED_EVENT, &label);
    if (file < 0)
        return CXU_INVALID_HANDLE;
    if (label.bytes == sizeof(shared_page) && label.facts_bytes == sizeof facts &&
        cx_emu_sealed_file_facts(file, &label, &facts, sizeof facts))
        result = map_file(file, facts.board, out_shared);
    cx_file_close(file);
    return result;
}

int cx_emu_shared_event_board(const cx_emu_shared_event *shared)
{
    return shared->board;
}

void cx_emu_shared_event_retain(cx_emu_shared_event *shared)
{
    shared->references++;
}

void cx_emu_shared_event_drop(cx_emu_shared_event *shared)
{
    if (--shared->references > 0)
        return;
    munmap(shared->page, sizeof(shared_page));
    free(shared);
}

void cx_emu_shared_event_leave(cx_emu_shared_event *shared)
{
    if (shared->own && cx_emu_process_file_is(&shared->where, shared->where.file))
        cx_file_close(shared->where.file);
    shared->own = false;
    cx_emu_shared_event_drop(shared);
}

/* ---- looking ---- */

uint64_t cx_emu_shared_event_recorded(const cx_emu_shared_event *shared)
{
    return atomic_load(&shared->page->recorded);
}

static unsigned int used_entries(const shared_page *page)
{
    unsigned int used = atomic_load(&page->used);

    return used < CX_EMU_SHARED_RECORDS ? used : CX_EMU_SHARED_RECORDS;
}

/* The process that has not finished a recording; 0: it is finished. */
static uint64_t owner_of(shared_page *page, uint64_t number)
{
    unsigned int used = used_entries(page);

    for (unsigned int i = 0; i < used; i++) {
        shared_entry *each = &page->entries[i];
        uint64_t owner;

        if (atomic_load(&each->number) != number)
            continue;
        owner = atomic_load(&each->owner);
        if (atomic_load(&each->number) == number)
            return owner;
    }
    return 0;
}

bool cx_emu_shared_event_finished(cx_emu_shared_event *shared, uint64_t number)
{
    uint64_t owner = owner_of(shared->page, number);

    if (owner == 0)
        return true;
    return owner != shared->self && shared->looks++ % LOOKS == 0 && cx_emu_process_ended(owner);
}

/* ---- recording ---- */

static bool take_entry(shared_entry *entry, uint64_t from, uint64_t self)
{
    return atomic_compare_exchange_strong(&entry->owner, &from, self);
}

static void raise_used(shared_page *page, unsigned int count)
{
    uint32_t used = atomic_load(&page->used);

    while (used < count && !atomic_compare_exchange_weak(&page->used, &used, count))
        continue;
}

/* Entries of processes that have ended are taken where no other is free. */
static int find_entry(shared_page *page, uint64_t self)
{
    for (int i = 0; i < CX_EMU_SHARED_RECORDS; i++)
        if (atomic_load(&page->entries[i].owner) == 0 && take_entry(&page->entries[i], 0, self))
            return i;
    for (int i = 0; i < CX_EMU_SHARED_RECORDS; i++) {
        uint64_t owner = atomic_load(&page->entries[i].owner);

        if (owner != self && cx_emu_process_ended(owner) &&
            take_entry(&page->entries[i], owner, self))
            return i;
    }
    return -1;
}

bool cx_emu_shared_record_begin(cx_emu_shared_event *shared, cx_emu_shared_record *out_record)
{
    shared_page *page;
    int entry;

    *out_record = (cx_emu_shared_record){.shared = shared};
    if (shared == NULL)
        return true;
    page = shared->page;
    entry = find_entry(page, shared->self);
    if (entry < 0)
        return false;
    raise_used(page, (unsigned int)entry + 1);
    out_record->entry = entry;
    out_record->number = atomic_fetch_add(&page->given, 1) + 1;
    atomic_store(&page->entries[entry].number, out_record->number);
    pending++;
    return true;
}

void cx_emu_shared_record_end(const cx_emu_shared_record *record)
{
    shared_entry *entry;

    if (record->shared == NULL)
        return;
    entry = &record->shared->page->entries[record->entry];
    atomic_store(&entry->number, 0);
    atomic_store(&entry->owner, 0);
    pending--;
}

static void end_record(void *argument)
{
    cx_emu_shared_record_end(argument);
}

static void retain_of_record(void *argument)
{
    cx_emu_shared_event_retain(((cx_emu_shared_record *)argument)->shared);
}

static void drop_of_record(void *argument)
{
    cx_emu_shared_event_drop(((cx_emu_shared_record *)argument)->shared);
}

void cx_emu_shared_record_request(cx_emu_shared_record *record, cx_emu_work_request *request)
{
    if (record->shared == NULL)
        return;
    request->call = end_record;
    request->retain = retain_of_record;
    request->release = drop_of_record;
    request->argument = record;
    request->argument_bytes = sizeof *record;
}

uint64_t cx_emu_shared_record_announce(const cx_emu_shared_record *record, cx_emu_work *work)
{
    shared_page *page;
    uint64_t last;

    if (record->shared == NULL)
        return 0;
    page = record->shared->page;
    last = atomic_load(&page->recorded);
    while (last < record->number &&
           !atomic_compare_exchange_weak(&page->recorded, &last, record->number))
        continue;
    cx_emu_schedule_demand(work);
    cx_emu_work_run_locked();
    cx_emu_schedule_wake();
    return record->number;
}

bool cx_emu_shared_records_pending(void)
{
    return pending > 0;
}

/* ---- waiting ---- */

static bool is_over(const cx_emu_shared_wait *wait)
{
    return !cx_emu_context_opened(wait->context, wait->opening) ||
           cx_emu_context_blocked(wait->context) != CXU_SUCCESS ||
           atomic_load_explicit(&cx_emu_current_phase, memory_order_relaxed) != CX_EMU_RUNNING ||
           cx_emu_shared_event_finished(wait->shared, wait->number);
}

/* Sleeps, longer from time to time. */
static void rest(useconds_t *pause)
{
    usleep(*pause);
    *pause = *pause < POLL_US_MAX ? 2 * *pause : POLL_US_MAX;
}

static void run_wait(void *argument)
{
    useconds_t pause = 1;

    for (;;) {
        cx_lock_enter(&cx_emu_lock);
        bool over = is_over(argument);
        cx_lock_leave(&cx_emu_lock);
        if (over)
            return;
        if (cx_emu_schedule_one_at_a_time()) {
            usleep(POLL_US_MAX);
            cx_emu_work_call_again();
            return;
        }
        rest(&pause);
    }
}

static void retain_of_wait(void *argument)
{
    cx_emu_shared_event_retain(((cx_emu_shared_wait *)argument)->shared);
}

static void drop_of_wait(void *argument)
{
    cx_emu_shared_event_drop(((cx_emu_shared_wait *)argument)->shared);
}

void cx_emu_shared_wait_request(cx_emu_shared_wait *wait, cx_emu_work_request *out_request)
{
    *out_request = (cx_emu_work_request){.kind = CX_EMU_WORK_WAIT,
                                         .call = run_wait,
                                         .retain = retain_of_wait,
                                         .release = drop_of_wait,
                                         .argument = wait,
                                         .argument_bytes = sizeof *wait};
}

static bool wait_over(const void *subject)
{
    return is_over(subject);
}

void cx_emu_shared_wait_here(cx_emu_shared_wait *wait)
{
    cx_emu_shared_event_retain(wait->shared);
    cx_emu_work_wait_outside(wait_over, wait);
    cx_emu_shared_event_drop(wait->shared);
}
