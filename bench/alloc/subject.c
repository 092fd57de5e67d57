#include "subject.h"

#include "device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const cx_driver *bench_driver(void)
{
    cx_device *device = NULL;
    bench_check(cx_device_find(CTXRT_CUDA(0), &device));
    return device->driver;
}

/* ---- ctxrt ---- */

static void enter_device(void)
{
    bench_check(ctxrt_device_push(CTXRT_CUDA(0)));
}

static void leave_device(void)
{
    bench_check(ctxrt_stack_pop());
}

static void *alloc_object(size_t bytes)
{
    ctxrt_memory *memory;
    return ctxrt_memory_alloc(bytes, &memory) == CTXRT_SUCCESS ? memory : NULL;
}

static void free_object(void *memory)
{
    bench_check(ctxrt_memory_release(memory));
}

static void *alloc_raw(size_t bytes)
{
    void *pointer;
    return ctxrt_alloc(bytes, &pointer) == CTXRT_SUCCESS ? pointer : NULL;
}

static void free_raw(void *pointer)
{
    bench_check(ctxrt_free(pointer));
}

void bench_add_ctxrt(bench_field *field)
{
    field->subject[field->count++] = (bench_subject){.name = "ctxrt object",
                                                     .of_device = true,
                                                     .alloc = alloc_object,
                                                     .free = free_object,
                                                     .enter = enter_device,
                                                     .leave = leave_device};
    field->subject[field->count++] = (bench_subject){.name = "ctxrt raw",
                                                     .of_device = true,
                                                     .alloc = alloc_raw,
                                                     .free = free_raw,
                                                     .enter = enter_device,
                                                     .leave = leave_device};
}

/* ---- all ---- */

void bench_field_open(bench_field *field)
{
    *field = (bench_field){.count = 0};
    bench_add_ctxrt(field);
    bench_add_fit(field);
    bench_add_mapped(field);
    bench_add_driver(field);
    bench_add_mallocs(field);
}

const bench_subject *bench_subject_find(const bench_field *field, const char *name)
{
    for (int i = 0; i < field->count; i++)
        if (strcmp(field->subject[i].name, name) == 0 && field->subject[i].missing == NULL)
            return &field->subject[i];
    return NULL;
}
