/* SPDX-License-Identifier: MIT */
/* Each structure has an allocation of its own. */
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
    MUST(cuMemFreeHost(self->memory));
    self->memory = NULL;
}

int main(void)
{
    use_gpu(0);
    ring input = open_ring();
    ring output = open_ring();
    close_ring(&input);
    close_ring(&output);
    leave_gpu(0);
    return 0;
}
