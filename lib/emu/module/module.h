/*
 * Modules, libraries, and their kernels. A module belongs to a context and goes with it (C3). A
 * library belongs to no context: it is loaded into each context on its first use there. All
 * functions: lock "emu.state" held, unless they say otherwise.
 */
#ifndef CX_EMU_MODULE_H
#define CX_EMU_MODULE_H

#include "emu/base/handle.h"
#include "emu/memory/allocation.h"
#include "emu/module/code.h"

typedef struct cx_emu_module cx_emu_module;
typedef struct cx_emu_library cx_emu_library;
typedef struct cx_emu_bindings cx_emu_bindings; /* texture_reference.h */

/* A kernel of a module, for its context: the object of a CUfunction. */
typedef struct cx_emu_function {
    cx_emu_handle_slot slot;
    cx_emu_module *module;
    const cx_ptx_function *kernel;
    int max_dynamic_bytes; /* of shared memory, as the user set it; -1: not set */
    int carveout;
    int cluster[3]; /* of launches that name none; 0: not set */
    int non_portable_clusters, cluster_policy;
    struct cx_emu_old_launch *old_launch; /* call/old_launch.c; NULL: nothing was set */
    bool loaded; /* what cuFuncIsLoaded says; see loading.h too */
} cx_emu_function;

struct cx_emu_module {
    void *name; /* the user's handle */
    cx_emu_context *context;
    cx_emu_code *code; /* a reference */
    cx_emu_allocation *memory; /* of its variables; NULL: it has none */
    cx_emu_allocation *managed; /* of its managed variables, which it uses; or NULL */
    cx_emu_function **functions;
    size_t function_count;
    struct cx_emu_texture_reference **texture_references; /* or NULL: the code has none */
    cx_emu_bindings *bindings; /* what is bound to them; or NULL */
    const cx_emu_library *library;  /* the library that it is an instance of; NULL: the user loaded
                                     * it */
    cx_emu_module *previous, *next; /* all of them */
};

/* The object of a CUkernel. */
typedef struct cx_emu_kernel {
    cx_emu_handle_slot slot;
    cx_emu_library *library;
    size_t index; /* of its function in each instance */
} cx_emu_kernel;

struct cx_emu_library {
    void *name;
    cx_emu_code *code; /* a reference */
    cx_emu_kernel **kernels;
    size_t kernel_count;
    cx_emu_allocation *managed; /* the managed variables of all its instances, made with the first
                                 * one that has any; or NULL */
    cx_emu_library *previous, *next;
};

/*
 * Loads code into a live context. The lock may be released meanwhile. CXU_OUT_OF_MEMORY,
 * CXU_CONTEXT_IS_DESTROYED.
 */
cxu_result cx_emu_module_create(cx_emu_context *context, cx_emu_code *code,
                                cx_emu_library *library, cx_emu_module **out_module);

/* Running kernels go on. */
void cx_emu_module_destroy(cx_emu_module *module);

/* CXU_INVALID_HANDLE */
cxu_result cx_emu_module_find(CUmodule handle, cx_emu_module **out_module);
cxu_result cx_emu_library_find(CUlibrary handle, cx_emu_library **out_library);
cxu_result cx_emu_kernel_find(CUkernel handle, cx_emu_kernel **out_kernel);
cxu_result cx_emu_function_find(CUfunction handle, cx_emu_function **out_function);

/* Finds a function; a kernel stands for its function in the current context. Errors of
 * cx_emu_kernel_instance too. */
cxu_result cx_emu_function_or_kernel_find(CUfunction handle, cx_emu_function **out_function);

/* True if functions count as loaded before they are used: CUDA_MODULE_LOADING=EAGER. */
bool cx_emu_loads_eagerly(void);

/* True for the handle of a CUkernel: calls that take a CUfunction take one, cast. */
bool cx_emu_is_kernel(CUfunction handle);

/* True for the handle of a library. */
bool cx_emu_library_live(const void *handle);

/* The library's instance in a context, loaded if need be; and the end of all its instances. */
cxu_result cx_emu_library_instance(cx_emu_library *library, cx_emu_context *context,
                                   cx_emu_module **out_module);
void cx_emu_library_release_instances(const cx_emu_library *library);

/* The function of a kernel in a context; its library is loaded there if need be. Errors of
 * cx_emu_module_create. The lock may be released meanwhile. */
cxu_result cx_emu_kernel_instance(cx_emu_kernel *kernel, cx_emu_context *context,
                                  cx_emu_function **out_function);

/* Finds a variable by name. CXU_NOT_FOUND. Either out-parameter may be NULL. */
cxu_result cx_emu_module_variable(const cx_emu_module *module, const char *name,
                                  CUdeviceptr *out_pointer, size_t *out_bytes);

/* True if the module has a managed variable of this name. */
bool cx_emu_module_manages(const cx_emu_module *module, const char *name);

/* Frees all modules of a context that is being closed: its work is done. */
void cx_emu_modules_release(cx_emu_context *context);

/* ---- properties of kernels ---- */

cx_ptx_kernel_info cx_emu_function_describe(const cx_emu_function *function);

/* As cx_emu_kernel_fact. */
bool cx_emu_function_fact(const cx_emu_function *function, cxu_func_attribute attribute,
                          int *out_value);

/* The number of blocks of a size that fit on a multiprocessor of the emulated GPUs at once. */
int cx_emu_occupancy(const cx_emu_function *function, size_t block_threads, size_t shared_bytes);

/* The most dynamic shared memory that a launch may ask for. */
size_t cx_emu_function_dynamic_limit(const cx_emu_function *function);

static inline CUmodule cx_emu_module_handle(const cx_emu_module *module)
{
    return module->name;
}

static inline CUfunction cx_emu_function_handle(cx_emu_function *function)
{
    return (CUfunction)(void *)function;
}

#endif
