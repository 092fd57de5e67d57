/*
 * Bytes: the last accesses to each range of memory, by which later work is judged. Every function
 * needs the lock "check".
 */
#ifndef CX_LAYER_CHECK_ORDER_BYTES_H
#define CX_LAYER_CHECK_ORDER_BYTES_H

#include "layer/check/order_graph.h"
#include "layer/check/stream_clock.h"

/* The kinds of work. */
typedef enum cx_order_what {
    CX_ORDER_COPY, /* fills too */
    CX_ORDER_KERNEL, /* graphs too */
    CX_ORDER_ALLOCATION,
    CX_ORDER_FREE
} cx_order_what;

/* A piece of work, for findings and for work that is ordered after it. A launch of a graph is one,
 * and has one for each of its nodes. */
typedef struct cx_order_piece {
    unsigned references;
    int line;
    uint64_t number; /* in its line */
    uint64_t launch; /* of a node: the number of its launch in the line */
    cx_order_graph *graph; /* of a node, with a reference; NULL: it is none */
    size_t node;
    cx_order_what what;
    bool by_host; /* the call waits for it */
    bool polls;   /* it may wait for other work by values in memory: no races are told of it */
    cx_slot slot;
    cx_origin where;
    cx_stream_clock_stream stream;
    int thread;      /* that made the call */
    char thread_name[16];
} cx_order_piece;

cx_order_piece *cx_order_piece_new(void); /* with a reference of the caller; NULL: no memory */
void cx_order_piece_drop(cx_order_piece *piece);

/* True if both are nodes of one launch of a graph. */
bool cx_order_piece_same_launch(const cx_order_piece *one, const cx_order_piece *other);

/* An earlier piece touches the bytes too, from `begin` to before `end`, and nothing orders them. */
typedef void (*cx_order_conflict)(cx_order_piece *earlier, uintptr_t begin, uintptr_t end);

/* Notes the access of a piece that is ordered after `clock`. */
void cx_order_bytes_touch(cx_order_piece *piece, const cx_stream_clock_kept *clock,
                          const cx_access *touch, cx_order_conflict tell);

/* The range is free for other memory. */
void cx_order_bytes_forget(uintptr_t begin, uintptr_t end);

/* All later work is ordered after the clock: forgets accesses that it covers, if there are many. */
void cx_order_bytes_trim(const cx_stream_clock *clock);

#endif
