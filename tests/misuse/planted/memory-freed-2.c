/* SPDX-License-Identifier: MIT */
/*
 * A structure with pinned memory is copied by assignment. Now two structures own one allocation,
 * and the second one that is closed frees it again.
 *
 * expect: MEMORY-FREED
 * at: close_ring
 * origin: made open_ring
 * origin: ended close_ring
 * says: 4096 bytes of pinned memory belongs to the primary context of GPU 0
 * says: 4096 bytes of pinned memory was ended by cuMemFreeHost
 */
#include "gpu.h"

typedef struct ring {
    void *memory;
    size_t begin, end;
} ring;

NAMED ring open_ring(void)
{
    ring self = {0};
    MUST(cuMemAllocHost(&self.memory, 4096));
    return self;
}

NAMED void close_ring(ring *self)
{
    (void)cuMemFreeHost(self->memory);
    self->memory = NULL;
}

int main(void)
{
    use_gpu(0);
    ring input = open_ring();
    ring output = input;
    close_ring(&input);
    close_ring(&output);
    leave_gpu(0);
    return 0;
}
