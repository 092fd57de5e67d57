#include "layer/check/host_guard.h"

#include "layer/check/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    GUARDS = 64,  /* copies beyond are not watched */
    TOUCHES = 64, /* that are not told yet; later ones are left out */
    RETRIES = 8   /* of one instruction, behind which another thread opened the page meanwhile */
};

/* The range is written before the state is. One that is open still says whose the pages were: a
 * fault may come in late. */
typedef enum guard_state { GUARD_NONE, GUARD_OPEN, GUARD_CLOSED } guard_state;
static struct guard {
    _Atomic guard_state state;
    _Atomic uintptr_t begin, end;
    uint64_t ticket;
} guards[GUARDS];
static unsigned last_guard;

static struct touch {
    uint64_t ticket; /* 0: none */
    uintptr_t address;
    bool writes;
    cx_origin where;
    int thread;
    char thread_name[16];
} touches[TOUCHES];

static bool ended;
static uintptr_t page_bytes;

bool (*cx_host_guard_has_handler)(void);

bool cx_host_guard_is_on(void)
{
    static int asked = -1;
    if (asked < 0) {
        const char *value = secure_getenv("CTXRT_CHECK_HOST");
        asked = value != NULL && strcmp(value, "1") == 0;
        page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    }
    return asked != 0 && !ended;
}

static void open_guard(struct guard *guard)
{
    const uintptr_t begin = guard->begin;
    (void)mprotect((void *)begin, guard->end - begin, PROT_READ | PROT_WRITE);
    guard->state = GUARD_OPEN;
}

void cx_host_guard_end(void)
{
    ended = true;
    for (unsigned i = 0; i < GUARDS; i++)
        if (guards[i].state == GUARD_CLOSED)
            open_guard(&guards[i]);
    memset(touches, 0, sizeof touches);
}

/* Two copies that use a page would open it for each other. */
static bool overlaps(uintptr_t begin, uintptr_t end_of)
{
    for (unsigned i = 0; i < GUARDS; i++)
        if (guards[i].state == GUARD_CLOSED && guards[i].begin < end_of && guards[i].end > begin)
            return true;
    return false;
}

static struct guard *free_guard(void)
{
    for (unsigned i = 0; i < GUARDS; i++) {
        struct guard *guard = &guards[++last_guard % GUARDS];
        if (guard->state != GUARD_CLOSED)
            return guard;
    }
    return NULL;
}

void cx_host_guard_put(uint64_t ticket, uintptr_t begin, uintptr_t end_of, bool writes)
{
    const uintptr_t first = (begin + page_bytes - 1) & ~(page_bytes - 1);
    const uintptr_t last = end_of & ~(page_bytes - 1);
    if (first >= last || overlaps(first, last) || cx_host_guard_has_handler == NULL ||
        !cx_host_guard_has_handler())
        return;
    struct guard *guard = free_guard();
    if (guard == NULL)
        return;
    guard->state = GUARD_NONE;
    guard->begin = first;
    guard->end = last;
    guard->ticket = ticket;
    guard->state = GUARD_CLOSED;
    if (mprotect((void *)first, last - first, writes ? PROT_NONE : PROT_READ) != 0)
        guard->state = GUARD_NONE;
}

void cx_host_guard_open(uint64_t ticket)
{
    for (unsigned i = 0; i < GUARDS; i++)
        if (guards[i].state == GUARD_CLOSED && guards[i].ticket == ticket)
            open_guard(&guards[i]);
}

void cx_host_guard_forget(uintptr_t begin, uintptr_t end_of)
{
    for (unsigned i = 0; i < GUARDS; i++) {
        struct guard *guard = &guards[i];
        if (guard->state == GUARD_NONE || guard->begin >= end_of || guard->end <= begin)
            continue;
        if (guard->state == GUARD_CLOSED)
            open_guard(guard);
        guard->state = GUARD_NONE;
    }
}

/* ---- findings ---- */

static void raise_touch(const struct touch *touch, const cx_order_piece *piece)
{
    cx_check_thread thread = {.number = touch->thread};
    char stream[48];
    memcpy(thread.name, touch->thread_name, sizeof thread.name);
    cx_finding finding =
        cx_finding_begin(CX_KIND_ORDER_HOST_ACCESS, &thread, -1, CXU_SUCCESS, touch->where);
    cx_stream_clock_stream_text(piece->stream, stream, sizeof stream);
    cx_finding_note(&finding, "first", piece->where, "%s in %s, which had not begun",
                    cx_origin_call(piece->where, piece->slot), stream);
    cx_finding_note(&finding, "second", touch->where, "the host %s %#llx",
                    touch->writes ? "wrote" : "read", (unsigned long long)touch->address);
    const cx_object *memory = cx_object_find_memory(touch->address);
    if (memory != NULL)
        cx_finding_note_object(&finding, memory);
    cx_finding_raise(&finding);
}

void cx_host_guard_tell(uint64_t ticket, const cx_order_piece *piece)
{
    for (unsigned i = 0; i < TOUCHES; i++) {
        if (touches[i].ticket != ticket)
            continue;
        if (!ended)
            raise_touch(&touches[i], piece);
        touches[i].ticket = 0;
    }
}

/* ---- faults ---- */

static void note_touch(uint64_t ticket, uintptr_t address, bool writes, cx_origin where)
{
    const cx_check_thread *thread = cx_check_thread_known();
    unsigned i = 0;
    while (i < TOUCHES && touches[i].ticket != 0)
        i++;
    if (i == TOUCHES)
        return;
    touches[i] = (struct touch){
        .ticket = ticket, .address = address, .writes = writes, .where = where};
    if (thread != NULL) {
        touches[i].thread = thread->number;
        memcpy(touches[i].thread_name, thread->name, sizeof touches[i].thread_name);
    }
}

/* A handler waits for no lock that its own thread may hold: the driver's own accesses, and those of
 * the program's functions that the driver calls, only open the page. */
static void note_fault(struct guard *guard, uintptr_t address, bool writes, void *instruction)
{
    if (cx_check_depth != 0 || cx_access_log_driver_thread || cx_region_gave_up() ||
        atomic_load(&cx_region_of_parent))
        return;
    const cx_origin where = cx_origin_of_fault(instruction);
    cx_lock_enter(&cx_check_lock);
    if (guard->state == GUARD_CLOSED && guard->begin <= address && address < guard->end) {
        note_touch(guard->ticket, address, writes, where);
        open_guard(guard); /* one access tells of the copy */
    }
    cx_lock_leave(&cx_check_lock);
}

/* Another thread opened the page since the fault; or what is there faults for another reason. */
static bool is_late(uintptr_t address)
{
    static _Thread_local uintptr_t last;
    static _Thread_local unsigned times;
    times = last == address ? times + 1 : 0;
    last = address;
    return times < RETRIES;
}

static struct guard *find(uintptr_t address, guard_state state)
{
    for (unsigned i = 0; i < GUARDS; i++)
        if (guards[i].state == state && address >= guards[i].begin && address < guards[i].end)
            return &guards[i];
    return NULL;
}

bool cx_host_guard_fault(uintptr_t address, bool writes, void *instruction)
{
    struct guard *guard = find(address, GUARD_CLOSED);
    if (guard == NULL)
        return find(address, GUARD_OPEN) != NULL && is_late(address);
    note_fault(guard, address, writes, instruction);
    return guard->state == GUARD_OPEN ||
           mprotect((void *)(address & ~(page_bytes - 1)), page_bytes,
                    PROT_READ | PROT_WRITE) == 0;
}
