/* SPDX-License-Identifier: MIT */
/*
 * Pinned memory comes by two calls and goes by one.
 *
 * expect: nothing
 * driver: threads lazy random:1 random:2 random:3
 */
#include "cusan.h"

int main(void)
{
    use_gpu(0);
    void *one = new_pinned(BYTES), *other;
    MUST(cuMemHostAlloc(&other, BYTES, 0));
    MUST(cuMemFreeHost(one));
    MUST(cuMemFreeHost(other));
    return done();
}
