/** All of ctxrt. */
#ifndef CTXRT_CTXRT_H
#define CTXRT_CTXRT_H

#include <ctxrt/allocator.h>
#include <ctxrt/context.h>
#include <ctxrt/device.h>
#include <ctxrt/event.h>
#include <ctxrt/graph.h>
#include <ctxrt/memory.h>
#include <ctxrt/module.h>
#include <ctxrt/plan.h>
#include <ctxrt/runtime.h>
#include <ctxrt/stack.h>
#include <ctxrt/status.h>
#include <ctxrt/stream.h>

#endif
