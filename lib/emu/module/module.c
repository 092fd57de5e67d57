#include "emu/module/module.h"

#include "emu/device/device.h"
#include "emu/module/heap.h"
#include "emu/module/kernel_facts.h"
#include "emu/module/texture_reference.h"
#include "emu/base/state.h"
#include "emu/device/sticky.h"
#include "emu/schedule/work.h"
#include <stdlib.h>
#include <string.h>

typedef struct named {
    cx_emu_handle_slot slot;
    cx_emu_module *module;
} named;

static cx_emu_handles names = {.slot_bytes = sizeof(named)};
static cx_emu_handles functions = {.slot_bytes = sizeof(cx_emu_function)};
static cx_emu_module *all;

/* ---- making and destroying ---- */

static void free_functions(cx_emu_module *module)
{
    for (size_t i = 0; i < module->function_count; i++)
        if (module->functions[i] != NULL) {
            free(module->functions[i]->old_launch);
            cx_emu_handle_return(&functions, module->functions[i]);
        }
    free(module->functions);
}

bool cx_emu_loads_eagerly(void)
{
    const char *mode = getenv("CUDA_MODULE_LOADING");

    return mode != NULL && strcmp(mode, "EAGER") == 0;
}

static bool make_functions(cx_emu_module *module)
{
    module->function_count = cx_ptx_kernel_count(module->code->ptx);
    module->functions = calloc(module->function_count + 1, sizeof(cx_emu_function *));
    if (module->functions == NULL) {
        module->function_count = 0;
        return false;
    }
    for (size_t i = 0; i < module->function_count; i++) {
        cx_emu_function *function = cx_emu_handle_take(&functions);

        if (function == NULL)
            return false;
        function->module = module;
        function->kernel = cx_ptx_kernel_at(module->code->ptx, i);
        function->carveout = function->max_dynamic_bytes = -1;
        function->loaded = cx_emu_loads_eagerly();
        module->functions[i] = function;
    }
    return true;
}

static void link_in(cx_emu_module *module)
{
    module->next = all;
    if (all != NULL)
        all->previous = module;
    all = module;
}

/* ---- variables ---- */

static cxu_result make_memory(cx_emu_context *context, const cx_emu_code *code,
                              cx_emu_allocation **out_memory)
{
    size_t bytes = cx_ptx_memory_bytes(code->ptx);
    cxu_result result;

    *out_memory = NULL;
    if (bytes == 0)
        return CXU_SUCCESS;
    result = cx_emu_allocation_create(context->device, context, CX_EMU_MEMORY_DEVICE, bytes, 0,
                                      out_memory);
    if (result == CXU_SUCCESS)
        (*out_memory)->of_module = true;
    return result;
}

static cx_emu_use all_of(cx_emu_allocation *memory)
{
    return (cx_emu_use){memory, memory != NULL ? memory->address + memory->bytes : 0};
}

/* Managed variables of a library are one memory for all contexts. Another thread may have made it
 * meanwhile, or unloaded the library, whose handle was `name`. */
static cxu_result give_to_library(cx_emu_library *library, const void *name,
                                  cx_emu_allocation **inout_made)
{
    cx_emu_allocation *made = *inout_made;

    if (!cx_emu_library_live(name)) {
        cx_emu_allocation_free(made);
        return CXU_INVALID_HANDLE;
    }
    if (library->managed != NULL) {
        cx_emu_allocation_free(made);
        *inout_made = library->managed;
    } else {
        library->managed = made;
    }
    return CXU_SUCCESS;
}

/* The memory is used by the caller then. */
static cxu_result take_managed(cx_emu_context *context, const cx_emu_code *code,
                               cx_emu_library *library, uint64_t variables,
                               cx_emu_allocation **out_managed)
{
    size_t bytes = cx_ptx_managed_bytes(code->ptx);
    const void *name = library != NULL ? library->name : NULL;
    cx_emu_allocation *managed = library != NULL ? library->managed : NULL;
    cxu_result result = CXU_SUCCESS;

    *out_managed = NULL;
    if (bytes == 0)
        return CXU_SUCCESS;
    if (managed == NULL) {
        cx_emu_allocation *made;

        result =
            cx_emu_allocation_create(context->device, library != NULL ? NULL : context,
                                     CX_EMU_MEMORY_MANAGED, bytes, CXU_MEM_ATTACH_GLOBAL, &made);
        if (result != CXU_SUCCESS)
            return result;
        made->of_module = true;
        managed = made;
        result = library != NULL ? give_to_library(library, name, &managed) : CXU_SUCCESS;
        if (result != CXU_SUCCESS)
            return result;
        if (managed == made)
            cx_ptx_managed_init(code->ptx, variables, made->address, made->mapped);
    }
    cx_emu_allocation_use(all_of(managed));
    *out_managed = managed;
    return CXU_SUCCESS;
}

static void leave_managed(cx_emu_allocation *managed, const cx_emu_library *library)
{
    if (managed == NULL)
        return;
    if (library == NULL)
        cx_emu_allocation_free(managed);
    cx_emu_work_drop_allocation(all_of(managed));
}

/* Allocates and initialises the variables; no other thread knows the memory yet. */
static cxu_result make_variables(cx_emu_context *context, const cx_emu_code *code,
                                 cx_emu_library *library, cx_emu_allocation **out_memory,
                                 cx_emu_allocation **out_managed)
{
    cx_emu_allocation *memory;
    cxu_result result = make_memory(context, code, &memory);
    uint64_t address = 0;

    if (result != CXU_SUCCESS)
        return result;
    if (memory != NULL)
        address = memory->address;
    result = take_managed(context, code, library, address, out_managed);
    if (result != CXU_SUCCESS) {
        if (memory != NULL)
            cx_emu_allocation_free(memory);
        return result;
    }
    if (memory != NULL)
        cx_ptx_memory_init(code->ptx, address, *out_managed != NULL ? (*out_managed)->address : 0,
                           memory->mapped);
    *out_memory = memory;
    return CXU_SUCCESS;
}

/* ---- modules ---- */

cxu_result cx_emu_module_create(cx_emu_context *context, cx_emu_code *code,
                                cx_emu_library *library, cx_emu_module **out_module)
{
    cx_emu_allocation *memory, *managed;
    cx_emu_module *module;
    named *own;
    cxu_result result;

    result = cx_ptx_uses_heap(code->ptx) ? cx_emu_heap_open(context) : CXU_SUCCESS;
    if (result == CXU_SUCCESS)
        result = make_variables(context, code, library, &memory, &managed);
    if (result != CXU_SUCCESS)
        return result;
    module = calloc(1, sizeof *module);
    if (module == NULL)
        goto free_memory;
    own = cx_emu_handle_take(&names);
    if (own == NULL)
        goto free_module;
    own->module = module;
    module->name = own;
    module->context = context;
    module->code = code;
    if (!make_functions(module) || !cx_emu_texture_references_make(module))
        goto free_names;
    module->memory = memory;
    module->managed = managed;
    module->library = library;
    cx_emu_code_retain(code);
    link_in(module);
    *out_module = module;
    return CXU_SUCCESS;

free_names:
    free_functions(module);
    cx_emu_handle_return(&names, own);
free_module:
    free(module);
free_memory:
    leave_managed(managed, library);
    if (memory != NULL)
        cx_emu_allocation_free(memory);
    return CXU_OUT_OF_MEMORY;
}

void cx_emu_module_destroy(cx_emu_module *module)
{
    *(module->previous != NULL ? &module->previous->next : &all) = module->next;
    if (module->next != NULL)
        module->next->previous = module->previous;
    leave_managed(module->managed, module->library);
    if (module->memory != NULL)
        cx_emu_allocation_free(module->memory);
    cx_emu_texture_references_free(module);
    free_functions(module);
    cx_emu_code_drop(module->code);
    cx_emu_handle_return(&names, module->name);
    free(module);
}

void cx_emu_modules_release(cx_emu_context *context)
{
    for (cx_emu_module *each = all, *next; each != NULL; each = next) {
        next = each->next;
        if (each->context == context)
            cx_emu_module_destroy(each);
    }
}

/* ---- libraries ---- */

static cx_emu_module *find_instance(const cx_emu_library *library, const cx_emu_context *context)
{
    for (cx_emu_module *each = all; each != NULL; each = each->next)
        if (each->library == library && each->context == context)
            return each;
    return NULL;
}

cxu_result cx_emu_library_instance(cx_emu_library *library, cx_emu_context *context,
                                   cx_emu_module **out_module)
{
    cx_emu_code *code = library->code;
    const void *handle = library->name;
    cxu_result result;

    *out_module = find_instance(library, context);
    if (*out_module != NULL)
        return CXU_SUCCESS;
    /* While memory is waited for, the library may be unloaded and the context closed. */
    cx_emu_code_retain(code);
    result = cx_emu_module_create(context, code, library, out_module);
    cx_emu_code_drop(code);
    if (result == CXU_SUCCESS && !cx_emu_library_live(handle)) {
        cx_emu_module_destroy(*out_module);
        result = CXU_INVALID_HANDLE;
    }
    return result;
}

void cx_emu_library_release_instances(const cx_emu_library *library)
{
    for (cx_emu_module *each = all, *next; each != NULL; each = next) {
        next = each->next;
        if (each->library == library)
            cx_emu_module_destroy(each);
    }
}

/* ---- handles ---- */

cxu_result cx_emu_module_find(CUmodule handle, cx_emu_module **out_module)
{
    if (!cx_emu_handle_live(&names, handle))
        return CXU_INVALID_HANDLE;
    *out_module = ((const named *)(const void *)handle)->module;
    return cx_emu_context_error((*out_module)->context);
}

cxu_result cx_emu_function_find(CUfunction handle, cx_emu_function **out_function)
{
    if (!cx_emu_handle_live(&functions, handle))
        return CXU_INVALID_HANDLE;
    *out_function = (cx_emu_function *)(void *)handle;
    return cx_emu_context_error((*out_function)->module->context);
}

/* ---- contents ---- */

cxu_result cx_emu_module_variable(const cx_emu_module *module, const char *name,
                                  CUdeviceptr *out_pointer, size_t *out_bytes)
{
    const cx_ptx_variable *variable = cx_ptx_variable_find(module->code->ptx, name);

    if (variable == NULL)
        return CXU_NOT_FOUND;
    if (out_pointer != NULL)
        *out_pointer = (variable->managed ? module->managed : module->memory)->address +
                       variable->offset;
    if (out_bytes != NULL)
        *out_bytes = variable->bytes;
    return CXU_SUCCESS;
}

bool cx_emu_module_manages(const cx_emu_module *module, const char *name)
{
    const cx_ptx_variable *variable = cx_ptx_variable_find(module->code->ptx, name);

    return variable != NULL && variable->managed;
}

cx_ptx_kernel_info cx_emu_function_describe(const cx_emu_function *function)
{
    return cx_emu_code_describe(function->module->code, function->kernel);
}

/* ---- limits of the device ---- */

static cx_emu_kernel_place place_of(const cx_emu_function *function)
{
    return (cx_emu_kernel_place){function->module->code, function->kernel,
                                 function->module->context->device};
}

bool cx_emu_function_fact(const cx_emu_function *function, cxu_func_attribute attribute,
                          int *out_value)
{
    const cx_emu_kernel_place place = place_of(function);

    return cx_emu_kernel_fact(&place, attribute, out_value);
}

size_t cx_emu_function_dynamic_limit(const cx_emu_function *function)
{
    const cx_emu_kernel_place place = place_of(function);

    return function->max_dynamic_bytes >= 0 ? (size_t)function->max_dynamic_bytes
                                            : cx_emu_kernel_dynamic_limit(&place);
}

int cx_emu_occupancy(const cx_emu_function *function, size_t block_threads, size_t shared_bytes)
{
    const cx_emu_kernel_place place = place_of(function);

    return cx_emu_kernel_occupancy(&place, block_threads, shared_bytes,
                                   cx_emu_function_dynamic_limit(function));
}
