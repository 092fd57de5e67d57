#include "play_host.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* ---- limits of a call ---- */

static _Thread_local struct {
    bool inside;
    int refused; /* the request that is refused, counted from now; 0: none */
} call;

static bool is_granted(void)
{
    if (!call.inside || call.refused == 0 || --call.refused > 0)
        return true;
    errno = ENOMEM;
    return false;
}

/* ---- memory given to calls ---- */

/* A lock-free open hash table of addresses: a fork finds no lock held. */
enum { BLOCKS_MOST = 1 << 16 };
#define GONE ((uintptr_t)1)
static _Atomic uintptr_t blocks[BLOCKS_MOST];
static _Atomic size_t block_count;

static size_t place_of(uintptr_t address)
{
    return (address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 48;
}

static void *keep_block(void *block)
{
    uintptr_t address = (uintptr_t)block;
    size_t place = place_of(address);
    if (!call.inside || block == NULL)
        return block;
    for (size_t i = 0; i < BLOCKS_MOST; i++) {
        _Atomic uintptr_t *slot = &blocks[(place + i) % BLOCKS_MOST];
        uintptr_t before = atomic_load(slot);
        if (before <= GONE && atomic_compare_exchange_strong(slot, &before, address)) {
            block_count++;
            break;
        }
    }
    return block;
}

static bool forget_block(const void *block)
{
    uintptr_t address = (uintptr_t)block;
    size_t place = place_of(address);
    for (size_t i = 0; block != NULL && i < BLOCKS_MOST; i++) {
        _Atomic uintptr_t *slot = &blocks[(place + i) % BLOCKS_MOST];
        uintptr_t before = atomic_load(slot);
        if (before == 0)
            return false;
        if (before == address && atomic_compare_exchange_strong(slot, &before, GONE)) {
            block_count--;
            return true;
        }
    }
    return false;
}

/* ---- replacements of the host's functions ---- */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_reallocarray(void *block, size_t count, size_t bytes);
int __real_posix_memalign(void **out_block, size_t alignment, size_t bytes);
void __real_free(void *block);
void *__real_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset);
int __real_pthread_create(pthread_t *out_thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_reallocarray(void *block, size_t count, size_t bytes);
int __wrap_posix_memalign(void **out_block, size_t alignment, size_t bytes);
void __wrap_free(void *block);
void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset);
int __wrap_pthread_create(pthread_t *out_thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);

void *__wrap_malloc(size_t bytes)
{
    return is_granted() ? keep_block(__real_malloc(bytes)) : NULL;
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return is_granted() ? keep_block(__real_calloc(count, bytes)) : NULL;
}

void *__wrap_reallocarray(void *block, size_t count, size_t bytes)
{
    if (!is_granted())
        return NULL;
    bool kept = forget_block(block);
    void *moved = __real_reallocarray(block, count, bytes);
    return moved != NULL || !kept ? keep_block(moved) : (keep_block(block), NULL);
}

int __wrap_posix_memalign(void **out_block, size_t alignment, size_t bytes)
{
    if (!is_granted())
        return ENOMEM;
    int result = __real_posix_memalign(out_block, alignment, bytes);
    if (result == 0)
        keep_block(*out_block);
    return result;
}

void __wrap_free(void *block)
{
    forget_block(block);
    __real_free(block);
}

void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
{
    return is_granted() ? __real_mmap(address, bytes, protection, flags, file, offset) : MAP_FAILED;
}

int __wrap_pthread_create(pthread_t *out_thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument)
{
    return is_granted() ? __real_pthread_create(out_thread, attributes, start, argument) : EAGAIN;
}

/* ---- the player's interface ---- */

static void enter_driver(int refused)
{
    call.inside = true;
    call.refused = refused;
}

static void leave_driver(void)
{
    call.inside = false;
}

static size_t count_held(void)
{
    return block_count;
}

const cx_play_host play_host = {enter_driver, leave_driver, count_held};
