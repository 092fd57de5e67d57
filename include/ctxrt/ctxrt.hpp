/**
 * C++17: all of ctxrt, without a call of its C API.
 *
 * A guard (guard.hpp) owns what the C API hands out and gives it back at the end of its block. It
 * is one handle, costs what the same C code with CTXRT_CLEANUP costs, and can be moved but not
 * copied. One that was moved from is empty; so is one that was made without arguments. An empty
 * guard is refused by every call: it is never the current stream, context or allocator.
 *
 * Errors are reported in one of two ways, as the caller chooses for each call:
 *  - Members named as the C functions (create, alloc, load, enter ...) return a ctxrt_status and
 *    never throw. On failure the guard is as it was.
 *  - Constructors with arguments, functions of the namespace (calls.hpp: copy, launch, capture,
 *    snapshot ...) and ctxrt::check() throw ctxrt::error, with the status and the sentence. What a
 *    C function writes to an out-parameter, they return. Without exceptions (-fno-exceptions) they
 *    are not there; get() is for the C API.
 *
 * A destructor cannot report a failure: the error is in ctxrt_last_error() of the thread that ran
 * the destructor, until its next failed call, and an object that could not be given back is left
 * alive, where ctxrt_shutdown() names it. Give an object back by name (destroy, release, unload,
 * leave) to get the status. An exception that is on its way keeps its own message.
 *
 * Functions that are given to the C API, and to host_function(), must not throw.
 *
 * Threads: as the C API. A guard may be destroyed on any thread and under any current context, but
 * for a scope, which ends on the thread that entered it. Two threads must not use one guard at once
 * unless both only read it.
 */
#ifndef CTXRT_CTXRT_HPP
#define CTXRT_CTXRT_HPP

#include <ctxrt/calls.hpp>
#include <ctxrt/guard.hpp>

#endif
