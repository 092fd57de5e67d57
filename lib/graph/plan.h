/*
 * Memory plans behind handles.
 */
#ifndef CX_GRAPH_PLAN_H
#define CX_GRAPH_PLAN_H

#include "base/lock.h"
#include "base/pool.h"
#include "device/runtime.h"
#include "graph/extent.h"
#include "graph/packing.h"
#include <ctxrt/plan.h>

#define CX_PLAN_TENSORS_MAX ((size_t)1 << 30) /* lets 32 bits count the steps of a plan */

typedef struct cx_tensor {
    size_t size; /* a multiple of the alignment */
    size_t offset;
    uint32_t extent;
    uint32_t begin, end; /* steps of the plan; the end is UINT32_MAX while it is not freed */
} cx_tensor;

typedef struct cx_plan {
    bool has_lock;
    cx_lock lock;         /* "plan": everything below; held while the memory is allocated */
    int cancel;           /* of the thread that has the lock */
    size_t alignment;
    bool optimised;
    cx_extents range;
    cx_tensor *tensors;
    size_t count, capacity;
    uint32_t steps;
    size_t peak;
    ctxrt_memory *memory; /* NULL: not allocated yet */
    uintptr_t base;
} cx_plan;

extern cx_pool cx_plans;

#endif
