#include "graph/code.h"

#include "base/error.h"
#include "work/kernel.h"
#include "work/relaxed_capture.h"
#include <stdlib.h>

/* ---- modules ---- */

static bool has_module(const cx_graph_code *code, const cx_module *module)
{
    for (size_t i = 0; i < code->count; i++)
        if (code->modules[i].module == module)
            return true;
    return false;
}

static ctxrt_status no_memory(void)
{
    return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory to note the modules of a graph");
}

static ctxrt_status add_module(cx_graph_code *code, cx_module_use use)
{
    if (has_module(code, use.module))
        return cx_module_release(use);
    cx_module_use *modules = reallocarray(code->modules, code->count + 1, sizeof *modules);
    if (modules == NULL)
        return cx_module_leave(use, no_memory());
    modules[code->count++] = use;
    code->modules = modules;
    return CTXRT_SUCCESS;
}

/* ---- nodes ---- */

static ctxrt_status find_function(const cx_driver *driver, CUgraphNode node,
                                  CUfunction *out_function)
{
    cxu_kernel_node_params params;
    cxu_kernel_node_params_v1 params_v1;
    if (driver->missing[CX_SLOT_graph_kernel_node_get_params]) {
        ctxrt_status status =
            CX_DRIVER_CALL(driver, graph_kernel_node_get_params_v1, (node, &params_v1));
        *out_function = status == CTXRT_SUCCESS ? params_v1.function : NULL;
        return status;
    }
    ctxrt_status status = CX_DRIVER_CALL(driver, graph_kernel_node_get_params, (node, &params));
    *out_function = status == CTXRT_SUCCESS ? params.function : NULL;
    return status;
}

static ctxrt_status add_kernel(cx_graph_code *code, const cx_driver *driver, CUgraphNode node)
{
    CUfunction function;
    cx_module_use use;
    ctxrt_status status = find_function(driver, node, &function);
    if (status != CTXRT_SUCCESS || !cx_kernel_retain_native(driver, function, &use))
        return status;
    return add_module(code, use);
}

static ctxrt_status add_child(cx_graph_code *code, const cx_driver *driver, CUgraphNode node)
{
    CUgraph child;
    ctxrt_status status = CX_DRIVER_CALL(driver, graph_child_graph_node_get_graph, (node, &child));
    return status == CTXRT_SUCCESS ? cx_graph_code_add(code, driver, child) : status;
}

static ctxrt_status add_node(cx_graph_code *code, const cx_driver *driver, CUgraphNode node)
{
    cxu_graph_node_type type;
    ctxrt_status status = CX_DRIVER_CALL(driver, graph_node_get_type, (node, &type));
    if (status == CTXRT_SUCCESS && type == CXU_GRAPH_NODE_TYPE_KERNEL)
        return add_kernel(code, driver, node);
    if (status == CTXRT_SUCCESS && type == CXU_GRAPH_NODE_TYPE_GRAPH)
        return add_child(code, driver, node);
    return status;
}

static ctxrt_status add_nodes(cx_graph_code *code, const cx_driver *driver, CUgraph native,
                              CUgraphNode *nodes, size_t count)
{
    ctxrt_status status = CX_DRIVER_CALL(driver, graph_get_nodes, (native, nodes, &count));
    for (size_t i = 0; i < count && status == CTXRT_SUCCESS; i++)
        status = add_node(code, driver, nodes[i]);
    return status;
}

ctxrt_status cx_graph_code_add(cx_graph_code *code, const cx_driver *driver, CUgraph native)
{
    size_t count;
    if (!cx_kernels_exist())
        return CTXRT_SUCCESS;
    ctxrt_status status = CX_DRIVER_CALL(driver, graph_get_nodes, (native, NULL, &count));
    if (status != CTXRT_SUCCESS || count == 0)
        return status;
    CUgraphNode *nodes = calloc(count, sizeof *nodes);
    if (nodes == NULL)
        return no_memory();
    status = add_nodes(code, driver, native, nodes, count);
    free(nodes);
    return status;
}

/* ---- the end ---- */

static ctxrt_status release_module(cx_module_use use)
{
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(use.module->context->driver);
    ctxrt_status status = cx_module_release(use);
    cx_relaxed_capture_end(&relaxed);
    return status;
}

ctxrt_status cx_graph_code_release(cx_graph_code *code)
{
    cx_error_saved saved;
    ctxrt_status first = CTXRT_SUCCESS;
    for (size_t i = 0; i < code->count; i++) {
        ctxrt_status status = release_module(code->modules[i]);
        if (first == CTXRT_SUCCESS && status != CTXRT_SUCCESS) {
            first = status;
            cx_error_save(&saved);
        }
    }
    if (first != CTXRT_SUCCESS)
        cx_error_restore(&saved);
    free(code->modules);
    *code = (cx_graph_code){NULL, 0};
    return first;
}
