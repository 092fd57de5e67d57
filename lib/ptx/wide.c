#include "ptx/wide.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

static bool are_same(cx_ptx_wide one, cx_ptx_wide other)
{
    return one.low == other.low && one.high == other.high;
}

/* ---- by a lock ---- */

static atomic_flag locked = ATOMIC_FLAG_INIT;

static cx_ptx_wide do_locked(cx_ptx_wide_mode mode, uint64_t *halves, cx_ptx_wide expected,
                             cx_ptx_wide value)
{
    cx_ptx_wide old;

    while (atomic_flag_test_and_set_explicit(&locked, memory_order_acquire))
        continue;
    old.low = __atomic_load_n(&halves[0], __ATOMIC_RELAXED);
    old.high = __atomic_load_n(&halves[1], __ATOMIC_RELAXED);
    if (mode != CX_PTX_WIDE_LOAD && (mode != CX_PTX_WIDE_SWAP || are_same(old, expected))) {
        __atomic_store_n(&halves[0], value.low, __ATOMIC_RELAXED);
        __atomic_store_n(&halves[1], value.high, __ATOMIC_RELAXED);
    }
    atomic_flag_clear_explicit(&locked, memory_order_release);
    return old;
}

/* ---- by one instruction ---- */

#if defined(__x86_64__)

/* Processors with AVX load 16 aligned bytes at once; memory may be read-only, where a swap fails.
 */
static cx_ptx_wide load_at_once(const void *memory)
{
    cx_ptx_wide value;

    __asm__ volatile("movdqa %1, %%xmm0\n\tmovdqu %%xmm0, %0"
                     : "=m"(value)
                     : "m"(*(const cx_ptx_wide *)memory)
                     : "xmm0", "memory");
    return value;
}

/* clang calls a library for the builtin of 16 bytes, gcc emits the instruction. */
static cx_ptx_wide swap_at_once(void *memory, cx_ptx_wide expected, cx_ptx_wide value)
{
    __asm__ volatile("lock cmpxchg16b %0"
                     : "+m"(*(cx_ptx_wide *)memory), "+a"(expected.low), "+d"(expected.high)
                     : "b"(value.low), "c"(value.high)
                     : "cc", "memory");
    return expected;
}

static cx_ptx_wide do_at_once(cx_ptx_wide_mode mode, void *memory, cx_ptx_wide expected,
                              cx_ptx_wide value)
{
    cx_ptx_wide old;

    if (mode == CX_PTX_WIDE_SWAP)
        return swap_at_once(memory, expected, value);
    old = load_at_once(memory);
    while (mode != CX_PTX_WIDE_LOAD) {
        expected = old;
        old = swap_at_once(memory, expected, value);
        if (are_same(old, expected))
            break;
    }
    return old;
}

#else

static cx_ptx_wide do_at_once(cx_ptx_wide_mode mode, void *memory, cx_ptx_wide expected,
                              cx_ptx_wide value)
{
    return do_locked(mode, memory, expected, value);
}

#endif

/* The parameters of a kernel may lie at any multiple of 8 here. */
cx_ptx_wide cx_ptx_wide_do(cx_ptx_wide_mode mode, void *memory, cx_ptx_wide expected,
                           cx_ptx_wide value)
{
    return (uintptr_t)memory % 16 ? do_locked(mode, memory, expected, value)
                                  : do_at_once(mode, memory, expected, value);
}
