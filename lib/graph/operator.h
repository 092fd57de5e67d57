/*
 * Operators as they are kept in recordings and graphs, and their calls.
 */
#ifndef CX_GRAPH_OPERATOR_H
#define CX_GRAPH_OPERATOR_H

#include "context/thread.h"
#include <ctxrt/graph.h>

#define CX_OPERATOR_TYPE_BYTES 64

typedef struct cx_operator {
    ctxrt_status (*run)(void *user_data);
    void (*destroy)(void *user_data);
    void *user_data;
    bool capturable;
    char type[CX_OPERATOR_TYPE_BYTES]; /* "": none */
} cx_operator;

/* Reads the public structure. If it has no function, takes the implementation of its type for the
 * context's device. Keeps none of the caller's pointers but user_data. */
ctxrt_status cx_operator_read(const ctxrt_operator *operation, const cx_context *context,
                              cx_operator *out_operator);

/* Calls the operator in the thread's top frame. A failure's message names the operator by `number`,
 * from 1; 0: it has none. CTXRT_ERROR_STACK_LEFTOVER: it left frames. */
ctxrt_status cx_operator_run(const cx_thread *thread, const cx_operator *called, size_t number);

/* "operator 3 (matmul)", for messages. Returned by value: a library that is loaded late has little
 * thread-local memory. */
typedef struct cx_operator_name {
    char text[40 + CX_OPERATOR_TYPE_BYTES];
} cx_operator_name;
cx_operator_name cx_operator_text(const cx_operator *named, size_t number);

static inline void cx_operator_destroy(const cx_operator *gone)
{
    if (gone->destroy != NULL)
        gone->destroy(gone->user_data);
}

#endif
