#include "emu/memory/reservation.h"

#include "emu/base/refusal.h"
#include "emu/base/state.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define RESERVED (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

typedef RB_HEAD(reservation_tree, cx_emu_reservation) reservation_tree;

static int address_compare(const cx_emu_reservation *left, const cx_emu_reservation *right)
{
    if (left->address == right->address)
        return 0;
    return left->address < right->address ? -1 : 1;
}

RB_GENERATE_INTERNAL(reservation_tree, cx_emu_reservation, by_address, address_compare,
                     __attribute__((unused)) static)

static reservation_tree reservations = RB_INITIALIZER(&reservations);

static void *reserve_at(uintptr_t hint, size_t bytes)
{
    void *found;
    if (hint == 0)
        return NULL;
    found = mmap((void *)hint, bytes, PROT_NONE, RESERVED | MAP_FIXED_NOREPLACE, -1, 0);
    if (found == MAP_FAILED)
        return NULL;
    if ((uintptr_t)found == hint)
        return found;
    munmap(found, bytes);
    return NULL;
}

/* Reserves more than is needed, and unmaps the ends. */
static void *reserve_aligned(size_t bytes, size_t alignment_bytes)
{
    size_t room;
    if (__builtin_add_overflow(bytes, alignment_bytes, &room))
        return NULL;
    unsigned char *start = mmap(NULL, room, PROT_NONE, RESERVED, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    size_t before = -(uintptr_t)start & (alignment_bytes - 1);
    if (before > 0)
        munmap(start, before);
    munmap(start + before + bytes, alignment_bytes - before);
    return start + before;
}

static void *reserve_addresses(size_t bytes, size_t alignment_bytes, uintptr_t hint)
{
    errno = 0;
    void *found = hint % alignment_bytes == 0 ? reserve_at(hint, bytes) : NULL;
    if (found != NULL || errno == ENOMEM)
        return found;
    return reserve_aligned(bytes, alignment_bytes);
}

cxu_result cx_emu_reservation_create(size_t bytes, size_t alignment_bytes, uintptr_t hint,
                                     bool host_access, cx_emu_reservation **out_reservation)
{
    cx_emu_reservation *reservation = calloc(1, sizeof(*reservation));
    if (reservation == NULL)
        return CXU_OUT_OF_MEMORY;
    cx_emu_refusal_begin();
    void *user = reserve_addresses(bytes, alignment_bytes, hint);
    if (user == NULL) {
        cx_emu_refused_by_system("mmap", bytes);
        goto fail;
    }
    reservation->address = (uintptr_t)user;
    reservation->mapped = user;
    reservation->bytes = bytes;
    if (!host_access)
        reservation->mapped = mmap(NULL, bytes, PROT_NONE, RESERVED, -1, 0);
    if (reservation->mapped == MAP_FAILED) {
        cx_emu_refused_by_system("mmap", bytes);
        goto unmap;
    }
    if (!host_access)
        cx_emu_driver_mapping_open(&reservation->driver_mapping, reservation->mapped, bytes);
    RB_INSERT(reservation_tree, &reservations, reservation);
    cx_emu_changes++;
    *out_reservation = reservation;
    return CXU_SUCCESS;

unmap:
    munmap(user, bytes);
fail:
    free(reservation);
    return CXU_OUT_OF_MEMORY;
}

void cx_emu_reservation_destroy(cx_emu_reservation *reservation)
{
    RB_REMOVE(reservation_tree, &reservations, reservation);
    cx_emu_driver_mapping_close(&reservation->driver_mapping);
    if ((uintptr_t)reservation->mapped != reservation->address)
        munmap(reservation->mapped, reservation->bytes);
    munmap((void *)reservation->address, reservation->bytes);
    free(reservation);
}

/* The reservation with the greatest start that is not above `address`. */
static cx_emu_reservation *floor_of(uintptr_t address)
{
    cx_emu_reservation *floor = NULL;
    cx_emu_reservation *node = RB_ROOT(&reservations);
    while (node != NULL) {
        if (node->address <= address) {
            floor = node;
            node = RB_RIGHT(node, by_address);
        } else {
            node = RB_LEFT(node, by_address);
        }
    }
    return floor;
}

cx_emu_reservation *cx_emu_reservation_find(uintptr_t address, size_t bytes)
{
    cx_emu_reservation *found = floor_of(address);
    if (found == NULL)
        return NULL;
    size_t offset = address - found->address;
    return offset < found->bytes && bytes <= found->bytes - offset ? found : NULL;
}

bool cx_emu_reservation_overlapping(uintptr_t address, size_t bytes)
{
    if (bytes == 0)
        return false;
    const cx_emu_reservation *last = floor_of(address + (bytes - 1));
    return last != NULL && (last->address >= address || address - last->address < last->bytes);
}

void cx_emu_reservation_clear(const cx_emu_reservation *reservation, uintptr_t address,
                              size_t bytes)
{
    unsigned char *start = reservation->mapped + (address - reservation->address);
    if (mmap(start, bytes, PROT_NONE, RESERVED | MAP_FIXED, -1, 0) == MAP_FAILED)
        madvise(start, bytes, MADV_DONTNEED);
}
