/*
 * The direction in which the host rounds. nvcc's expf has an fma that rounds down, so kernels set
 * it often. fesetround() sets the control words of x87 and SSE, which costs several times as much
 * as the operation; float and double need the latter alone.
 */
#ifndef CX_PTX_DIRECTION_H
#define CX_PTX_DIRECTION_H

#include <fenv.h>

/* The compiler must not move accesses to memory over a change: then it computes what it reads and
 * writes between two of them in that direction. */
#define CX_PTX_DIRECTION_FENCE() __asm__ volatile("" ::: "memory")

#if defined(__x86_64__) && defined(__SSE_MATH__)
#include <xmmintrin.h>

#define CX_PTX_SSE_ROUNDING 0x6000u /* FE_DOWNWARD and its like are these bits, 3 lower */

typedef unsigned int cx_ptx_direction;

/* Returns the direction before, for cx_ptx_direction_end(). */
static inline cx_ptx_direction cx_ptx_direction_begin(int how)
{
    cx_ptx_direction before = _mm_getcsr();

    _mm_setcsr((before & ~CX_PTX_SSE_ROUNDING) | (unsigned int)how << 3);
    CX_PTX_DIRECTION_FENCE();
    return before;
}

static inline void cx_ptx_direction_end(cx_ptx_direction before)
{
    CX_PTX_DIRECTION_FENCE();
    _mm_setcsr(before);
}
#else
typedef int cx_ptx_direction;

static inline cx_ptx_direction cx_ptx_direction_begin(int how)
{
    cx_ptx_direction before = fegetround();

    fesetround(how);
    CX_PTX_DIRECTION_FENCE();
    return before;
}

static inline void cx_ptx_direction_end(cx_ptx_direction before)
{
    CX_PTX_DIRECTION_FENCE();
    fesetround(before);
}
#endif

#endif
