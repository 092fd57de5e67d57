#include "ptx/room.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define PART_ALIGN ((size_t)64)

typedef struct cx_ptx_reserve {
    size_t bytes; /* of all, with this head */
} cx_ptx_reserve;

#define HEAD PART_ALIGN

static _Atomic(cx_ptx_reserve *) spare; /* NULL: a thread has it, or there is none */
static atomic_size_t largest;           /* bytes of the one that a thread has, or the spare one */

/* ---- parts ---- */

static size_t align_up(size_t bytes)
{
    return (bytes + PART_ALIGN - 1) & ~(PART_ALIGN - 1);
}

void *cx_ptx_room_take(cx_ptx_room *room, size_t bytes)
{
    unsigned char *part = room->begin ? room->begin + room->used : NULL;

    room->used += align_up(bytes);
    return part;
}

bool cx_ptx_room_open(cx_ptx_room *room, size_t bytes)
{
    unsigned char *memory = calloc(1, bytes + PART_ALIGN);

    if (!memory)
        return false;
    *room = (cx_ptx_room){.begin = memory + (PART_ALIGN - (uintptr_t)memory % PART_ALIGN),
                          .allocated = memory};
    return true;
}

bool cx_ptx_await_memory(const cx_ptx_environment *environment)
{
    const struct timespec moment = {.tv_nsec = 1000000};

    if (environment->stopped && environment->stopped(environment->self))
        return false;
    nanosleep(&moment, NULL);
    return true;
}

/* ---- the reserve ---- */

static cx_ptx_reserve *larger_of(cx_ptx_reserve *one, cx_ptx_reserve *other)
{
    cx_ptx_reserve *kept = !other || one->bytes >= other->bytes ? one : other;

    if (other)
        munmap(kept == one ? other : one, kept == one ? other->bytes : one->bytes);
    return kept;
}

static void give_spare(cx_ptx_reserve *reserve)
{
    cx_ptx_reserve *nothing;

    do {
        reserve = larger_of(reserve, atomic_exchange(&spare, NULL));
        nothing = NULL;
    } while (!atomic_compare_exchange_strong(&spare, &nothing, reserve));
}

bool cx_ptx_reserve_suffices(size_t bytes)
{
    return bytes + HEAD <= atomic_load(&largest);
}

bool cx_ptx_reserve_grow(size_t bytes)
{
    size_t wanted = bytes + HEAD, before = atomic_load(&largest);
    cx_ptx_reserve *made;

    if (wanted <= before)
        return true;
    made = mmap(NULL, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED)
        return false;
    made->bytes = wanted;
    give_spare(made);
    while (wanted > before && !atomic_compare_exchange_weak(&largest, &before, wanted))
        continue;
    return true;
}

bool cx_ptx_room_open_reserve(cx_ptx_room *room, size_t bytes)
{
    cx_ptx_reserve *reserve = atomic_exchange(&spare, NULL);

    if (!reserve)
        return false;
    if (reserve->bytes < bytes + HEAD) {
        give_spare(reserve);
        return false;
    }
    *room = (cx_ptx_room){.begin = (unsigned char *)reserve + HEAD, .reserve = reserve};
    return true;
}

void cx_ptx_room_close(cx_ptx_room *room)
{
    if (room->reserve) {
        size_t bytes = room->reserve->bytes;

        madvise(room->reserve, bytes, MADV_DONTNEED); /* zeroes for the next one */
        room->reserve->bytes = bytes;
        give_spare(room->reserve);
    }
    free(room->allocated);
    *room = (cx_ptx_room){0};
}
