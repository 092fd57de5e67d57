/*
 * Every public function once, with arguments that are good: what they answer where none of them can
 * do its work, as when the process is ending, or in a forked child.
 */
#ifndef CX_TEST_EVERY_CALL_H
#define CX_TEST_EVERY_CALL_H

#include <ctxrt/ctxrt.h>

/* One live object of each kind. */
typedef struct every_object {
    ctxrt_context *context;
    ctxrt_context *primary; /* held */
    ctxrt_stream *stream;
    ctxrt_event *event;
    ctxrt_memory *memory;
    ctxrt_memory *host_memory;
    ctxrt_allocator *allocator;
    ctxrt_graph *graph;
    ctxrt_plan *plan;
    ctxrt_module *module;
    ctxrt_kernel *kernel;
    ctxrt_detached_frame *detached;
    ctxrt_scope scope; /* open */
    void *pointer;
    void *async_pointer;
    void *pages; /* registered */
} every_object;

/* Makes them in CTXRT_CUDA(0), and leaves the scope open on the calling thread's stack. False if
 * something failed. */
int every_object_make(every_object *out_objects);

/* Gives them back and leaves the scope. False if something failed. */
int every_object_end(every_object *objects);

/*
 * Makes every call. `calls` is what those that do something must answer, `releases` what those that
 * give something back must. Returns how many did not, or left no message; names them on stderr.
 * Uses no Check: for any process.
 */
int every_call_wrong(every_object *objects, ctxrt_status calls, ctxrt_status releases);

/* One of those calls: `number` is below every_call_count(). */
int every_call_count(void);
const char *every_call_name(int number);
ctxrt_status every_call_make(every_object *objects, int number);

#endif
