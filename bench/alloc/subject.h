/*
 * What is measured: ctxrt's allocator by its two interfaces and its innermost part, the driver's
 * own calls, and malloc of several libraries, which get sizes / 256.
 */
#ifndef CX_BENCH_ALLOC_SUBJECT_H
#define CX_BENCH_ALLOC_SUBJECT_H

#include "allocation_trace.h"
#include "check.h"
#include "driver/driver.h"

#include <ctxrt/ctxrt.h>

typedef struct bench_subject {
    const char *name;
    uint32_t shift;   /* sizes are halved so often */
    bool of_device;   /* its memory is the device's */
    bool slow;        /* each operation is a call of the driver: shorter traces */
    void *(*alloc)(size_t bytes); /* NULL: there is none */
    void (*free)(void *memory);
    void (*enter)(void); /* on each thread, before and behind its calls; may be NULL */
    void (*leave)(void);
    const char *missing; /* why it is not there; NULL: it is */
} bench_subject;

#define BENCH_SUBJECTS_MAX 10


/* ctxrt's come first, then the driver's, then the libraries'. */
typedef struct bench_field {
    bench_subject subject[BENCH_SUBJECTS_MAX];
    int count;
} bench_field;

/* The runtime is running. */
void bench_field_open(bench_field *field);

/* Each appends its own. */
void bench_add_ctxrt(bench_field *field);
void bench_add_fit(bench_field *field);
void bench_add_mapped(bench_field *field);

/* Gives the allocator of the mapped subject back; nobody uses it. */
void bench_drop_mapped(void);
void bench_add_driver(bench_field *field);
void bench_add_mallocs(bench_field *field);

/* The subject of this name, if it is there; else NULL. */
const bench_subject *bench_subject_find(const bench_field *field, const char *name);

/* Device cuda:0 and its driver; it is set on the thread that asks first. */
const cx_driver *bench_driver(void);

#endif
