#include "ptx/liveness.h"

#include <stdlib.h>
#include <string.h>

void cx_ptx_unload(cx_ptx_module *module)
{
    if (!module)
        return;
    for (size_t i = 0; i < module->function_count; i++) {
        free(module->functions[i].name);
        free(module->functions[i].parameters);
        free(module->functions[i].constant_longs);
        free(module->functions[i].calls);
        free(module->functions[i].live_at_calls);
        free(module->functions[i].predicates);
    }
    for (size_t i = 0; i < module->variable_count; i++)
        free((char *)module->variables[i].name);
    for (size_t i = 0; i < module->reference_count; i++)
        free((char *)module->references[i].name);
    for (size_t i = 0; i < module->image_count; i++)
        free(module->images[i].content);
    for (size_t i = 0; i < module->file_count; i++)
        free(module->files[i].name);
    for (size_t i = 0; i < module->array_count; i++)
        free(module->arrays[i].name);
    free(module->arrays);
    free(module->array_uses);
    free(atomic_load(&module->array_of));
    free(module->files);
    free(module->marks);
    free(module->code);
    free(module->functions);
    free(module->variables);
    free(module->images);
    free(module->relocations);
    free(module->targets);
    free(module->matrices);
    free(module->references);
    free(module);
}

size_t cx_ptx_memory_bytes(const cx_ptx_module *module)
{
    return module->memory_bytes;
}

size_t cx_ptx_constant_bytes(const cx_ptx_module *module)
{
    return module->constant_bytes;
}

size_t cx_ptx_managed_bytes(const cx_ptx_module *module)
{
    return module->managed_bytes;
}

static void init_part(const cx_ptx_module *module, bool managed, uint64_t address,
                      uint64_t managed_address, unsigned char *memory)
{
    for (size_t i = 0; i < module->image_count; i++) {
        const cx_ptx_image *image = &module->images[i];

        if ((image->part == CX_PTX_PART_MANAGED) == managed)
            memcpy(memory + image->offset, image->content, image->bytes);
    }
    for (size_t i = 0; i < module->relocation_count; i++) {
        const cx_ptx_relocation *each = &module->relocations[i];
        uint64_t target =
            each->target + (each->to_part == CX_PTX_PART_MANAGED ? managed_address : address);

        if ((each->part == CX_PTX_PART_MANAGED) == managed)
            memcpy(memory + each->offset, &target, sizeof target);
    }
}

void cx_ptx_memory_init(const cx_ptx_module *module, uint64_t address, uint64_t managed_address,
                        unsigned char *memory)
{
    memset(memory, 0, module->memory_bytes);
    init_part(module, false, address, managed_address, memory);
}

void cx_ptx_managed_init(const cx_ptx_module *module, uint64_t address, uint64_t managed_address,
                         unsigned char *memory)
{
    memset(memory, 0, module->managed_bytes);
    init_part(module, true, address, managed_address, memory);
}

const cx_ptx_variable *cx_ptx_variable_find(const cx_ptx_module *module, const char *name)
{
    for (size_t i = 0; i < module->variable_count; i++)
        if (strcmp(module->variables[i].name, name) == 0)
            return &module->variables[i];
    return NULL;
}

static bool is_nearer(const cx_ptx_variable *one, const cx_ptx_variable *other, size_t offset)
{
    if (!other || (one->offset <= offset) != (other->offset <= offset))
        return !other || one->offset <= offset;
    return one->offset <= offset ? one->offset > other->offset : one->offset < other->offset;
}

const cx_ptx_variable *cx_ptx_variable_near(const cx_ptx_module *module, size_t offset)
{
    const cx_ptx_variable *found = NULL;

    for (size_t i = 0; i < module->variable_count; i++)
        if (!module->variables[i].managed && is_nearer(&module->variables[i], found, offset))
            found = &module->variables[i];
    return found;
}

bool cx_ptx_uses_textures(const cx_ptx_module *module)
{
    return module->uses_textures;
}

size_t cx_ptx_reference_count(const cx_ptx_module *module)
{
    return module->reference_count;
}

const cx_ptx_reference *cx_ptx_reference_at(const cx_ptx_module *module, size_t index)
{
    return &module->references[index];
}

static bool is_kernel(const cx_ptx_function *function)
{
    return function->kernel && function->defined;
}

size_t cx_ptx_kernel_count(const cx_ptx_module *module)
{
    size_t count = 0;

    for (size_t i = 0; i < module->function_count; i++)
        count += is_kernel(&module->functions[i]);
    return count;
}

const cx_ptx_function *cx_ptx_kernel_at(const cx_ptx_module *module, size_t index)
{
    for (size_t i = 0; i < module->function_count; i++)
        if (is_kernel(&module->functions[i]) && index-- == 0)
            return &module->functions[i];
    return NULL;
}

const cx_ptx_function *cx_ptx_kernel_find(const cx_ptx_module *module, const char *name)
{
    for (size_t i = 0; i < module->function_count; i++)
        if (is_kernel(&module->functions[i]) && strcmp(module->functions[i].name, name) == 0)
            return &module->functions[i];
    return NULL;
}

cx_ptx_kernel_info cx_ptx_kernel_describe(const cx_ptx_module *module,
                                          const cx_ptx_function *kernel)
{
    (void)module;
    cx_ptx_kernel_info info = {
        .name = kernel->name,
        .parameters = kernel->parameters,
        .parameter_count = kernel->parameter_count,
        .parameter_bytes = kernel->parameter_bytes,
        .shared_bytes = kernel->shared_bytes,
        .local_bytes = kernel->stack_bytes,
        .registers = cx_ptx_registers_of(kernel),
        .max_threads = kernel->max_threads,
        .cluster_most = kernel->cluster_most,
        .cluster_needed = kernel->cluster_needed,
        .counts_clusters = kernel->counts_clusters,
    };
    memcpy(info.required, kernel->required, sizeof info.required);
    memcpy(info.cluster, kernel->cluster, sizeof info.cluster);
    return info;
}

bool cx_ptx_kernel_prints(const cx_ptx_function *kernel)
{
    return kernel->prints;
}

bool cx_ptx_kernel_allocates(const cx_ptx_function *kernel)
{
    return kernel->uses_heap;
}

int cx_ptx_version(const cx_ptx_module *module)
{
    return module->version;
}

int cx_ptx_target(const cx_ptx_module *module)
{
    return module->target;
}

static const cx_ptx_mark *mark_before(const cx_ptx_module *module, size_t code)
{
    size_t low = 0, high = module->mark_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (module->marks[middle].code <= code)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &module->marks[low - 1] : NULL;
}

const char *cx_ptx_source_of(const cx_ptx_module *module, size_t code, int *out_line)
{
    const cx_ptx_mark *mark = mark_before(module, code);

    if (!mark || mark->line == 0)
        return NULL;
    *out_line = (int)mark->line;
    for (size_t i = 0; i < module->file_count; i++)
        if (module->files[i].number == mark->file)
            return module->files[i].name;
    return NULL;
}

bool cx_ptx_uses_heap(const cx_ptx_module *module)
{
    for (size_t i = 0; i < module->function_count; i++)
        if (!module->functions[i].defined &&
            (module->functions[i].builtin == CX_PTX_BUILTIN_ALLOCATE ||
             module->functions[i].builtin == CX_PTX_BUILTIN_PREPARE_CHILD))
            return true;
    return false;
}

bool cx_ptx_uses_builtins(const cx_ptx_module *module)
{
    for (size_t i = 0; i < module->function_count; i++)
        if (module->functions[i].builtin != CX_PTX_NO_BUILTIN && !module->functions[i].defined)
            return true;
    return false;
}

bool cx_ptx_is_same_prototype(const cx_ptx_function *one,
                              const cx_ptx_function *other)
{
    if (one->parameter_count != other->parameter_count || one->result_count != other->result_count)
        return false;
    for (size_t i = 0; i < one->parameter_count; i++)
        if (one->parameters[i].bytes != other->parameters[i].bytes)
            return false;
    return true;
}
