/*
 * The modules whose kernels are in captured work. Their code stays as long as the work may run.
 */
#ifndef CX_GRAPH_CODE_H
#define CX_GRAPH_CODE_H

#include "work/module.h"

typedef struct cx_graph_code {
    cx_module_use *modules; /* each once, with a count */
    size_t count;
} cx_graph_code;

/* Adds the modules of one of the driver's graphs, and of the graphs in it. Skips kernels that are
 * not ctxrt's. CTXRT_ERROR_OUT_OF_MEMORY: what was added stays. */
ctxrt_status cx_graph_code_add(cx_graph_code *code, const cx_driver *driver, CUgraph native);

/* Gives the counts back. Returns the driver's first error. */
ctxrt_status cx_graph_code_release(cx_graph_code *code);

#endif
