/* Random numbers that are the same in every run: xorshift64*. The state is not 0. */
#ifndef CX_TEST_RANDOM_H
#define CX_TEST_RANDOM_H

#include <stdint.h>

static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 0x2545f4914f6cdd1dULL;
}

#endif
