/*
 * Cases of facts that others recorded of real drivers: each says what this driver does, under the
 * fact's id, and facts.sh compares that with facts.tsv. A family is a group of cases with one
 * set-up, and runs in a process of its own.
 */
#ifndef TESTS_OBSERVED_H
#define TESTS_OBSERVED_H

#include "client.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define G ((size_t)2 * MIB) /* the granularity of virtual memory */

/* A call by its name, for those that symbols.def may not have: whole numbers and pointers only. */
#define ASK(symbol, ...) ask(symbol, (const uintptr_t[12]){__VA_ARGS__})
#define P(pointer) ((uintptr_t)(pointer))
#define ABSENT ((cxu_result)100000)

const char *name(cxu_result result);
cxu_result ask(const char *symbol, const uintptr_t *arguments);

/* What a fact's case gave: a result, a text, or whether it is as recorded. */
void is(const char *id, cxu_result result);
void see(const char *id, const char *format, ...) __attribute__((format(printf, 2, 3)));
void yes(const char *id, int whether);

/* Set-ups that must succeed; the process ends where they do not. */
void must(cxu_result result, const char *what);
#define MUST(call) must(call, #call)
CUcontext context_on(CUdevice device);
CUdeviceptr memory(size_t bytes);
CUstream stream_with(unsigned int flags);
CUevent event_with(unsigned int flags);
CUmodule module_of(const char *text);
CUfunction function_of(CUmodule module, const char *kernel);
int attribute_of(CUdevice device, cxu_device_attribute attribute);

/* Runs `body` on a thread of its own and waits for it. */
void elsewhere(void (*body)(void *), void *argument);

typedef struct family {
    const char *name;
    const char *setting; /* NAME=VALUE, or NULL */
    void (*run)(void);   /* the driver is not initialised yet */
} family;

extern const family context_families[], primary_families[], host_families[], memory_families[],
    stream_families[], virtual_families[], module_families[], launch_families[], graph_families[],
    capture_families[], pool_families[], error_families[], misc_families[];

#endif
