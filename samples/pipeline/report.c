#include "pipeline.h"

#include <stdio.h>
#include <stdlib.h>

static void write_devices(const pipeline *self)
{
    printf("%-8s %8s %14s %10s %10s\n", "device", "chunks", "bytes", "MB/s", "switches");
    for (int i = 0; i < self->devices; i++) {
        const device_figures *figures = &self->figures[i];
        unsigned long bytes = atomic_load(&figures->bytes);
        unsigned long long busy_us = atomic_load(&figures->busy_us);
        printf("%s:%-4d %9lu %14lu ", ctxrt_device_type_name(self->device[i].type),
               self->device[i].index, atomic_load(&figures->chunks), bytes);
        if (busy_us != 0)
            printf("%10.0f", (double)bytes / (double)busy_us);
        else
            printf("%10s", "-");
        printf(" %10lu\n", atomic_load(&figures->switches));
    }
}

static int compare_counts(const void *left, const void *right)
{
    const uint64_t *const *a = left, *const *b = right;
    return (**a < **b) - (**a > **b);
}

static void write_commonest(const totals *of)
{
    const uint64_t *order[256];
    for (int i = 0; i < 256; i++)
        order[i] = &of->histogram[i];
    qsort(order, 256, sizeof order[0], compare_counts);
    printf("commonest bytes:");
    for (int i = 0; i < 4 && *order[i] != 0; i++)
        printf(" 0x%02x x %llu", (unsigned int)(order[i] - of->histogram),
               (unsigned long long)*order[i]);
    printf("\n");
}

void report_write(pipeline *self, double seconds)
{
    const totals *plain = &self->source->plain;
    if (self->snapshot != NULL)
        printf("every thread's stack in mid-flight:\n%s\n", self->snapshot);
    write_devices(self);
    printf("\n%llu bytes in %zu chunks by %d threads in %.2f s\n",
           (unsigned long long)self->back.bytes, self->result_count, self->threads, seconds);
    if (self->back.bytes != 0)
        write_commonest(&self->back);
    printf("through the devices: crc32 %08x\nplain CPU pass:      crc32 %08x\n%s\n", self->back.crc,
           plain->crc,
           totals_equal(&self->back, plain) ? "the same bytes, the same histogram" : "THEY DIFFER");
}
