#include "layer/trace/layout.h"

#include "layer/layer.h"
#include "layer/trace/format.h"

#include <stddef.h>
#include <string.h>

cx_trace_layout cx_trace_layouts[CX_SLOT_COUNT];

#define BACK_ROW(type, tag, kind) type *: sizeof(void *),

/* The bytes that a pointer of this type leads to, of types that come back by value. */
#define BACK(type)                \
    _Generic(*(type *)0,         \
        int *: 4,                 \
        unsigned int *: 4,        \
        float *: 4,               \
        unsigned long *: sizeof(long), \
        unsigned long long *: 8,  \
        void **: sizeof(void *), \
        CX_HANDLE_TYPES(BACK_ROW, CX_HANDLE_NO_KIND) \
        CUgreenCtx *: sizeof(void *), \
        default: 0)

typedef struct row {
    cx_trace_parameter parameters[CX_TRACE_PARAMETERS + 1];
    size_t argument_bytes;
} row;

#define OF(slot, type, name) \
    {#type, #name, offsetof(cx_arguments_##slot, name), sizeof(type), BACK(type), 0},
static const row rows[CX_SLOT_COUNT] = {
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    [CX_SLOT_##slot] = {{CX_EACH(arity, parameters, OF, slot) {0}}, sizeof(cx_arguments_##slot)},
#include "driver/symbols.def"
};

static uint16_t whole_words(size_t bytes)
{
    return (uint16_t)((bytes + 7) / 8 * 8);
}

static bool has_numbers(cx_slot slot)
{
    switch (slot) {
    case CX_SLOT_launch_kernel_ex:
    case CX_SLOT_memcpy_2d:
    case CX_SLOT_memcpy_2d_unaligned:
    case CX_SLOT_memcpy_2d_async:
    case CX_SLOT_memcpy_3d:
    case CX_SLOT_memcpy_3d_async:
        return true;
    default:
        return false;
    }
}

static void make_layout(cx_trace_layout *self, const row *from, cx_slot slot)
{
    memcpy(self->parameters, from->parameters, sizeof self->parameters);
    self->argument_bytes = (uint16_t)from->argument_bytes;
    self->bytes = (uint16_t)(sizeof(cx_trace_call) + whole_words(from->argument_bytes));
    for (self->count = 0; from->parameters[self->count].name != NULL; self->count++) {
        cx_trace_parameter *one = &self->parameters[self->count];
        if (strncmp(one->name, "out_", 4) != 0)
            one->back_bytes = 0;
        if (one->back_bytes > 0) {
            one->back = self->bytes;
            self->bytes = (uint16_t)(self->bytes + 8);
        }
        if (strcmp(one->type, "const char *") == 0 && self->text == 0) {
            self->text = self->bytes;
            self->text_parameter = self->count;
            self->bytes = (uint16_t)(self->bytes + CX_TRACE_TEXT);
        }
    }
    if (has_numbers(slot)) {
        self->numbers = self->bytes;
        self->bytes = (uint16_t)(self->bytes + CX_TRACE_NUMBERS * sizeof(uint64_t));
    }
}

void cx_trace_layouts_make(void)
{
    for (int slot = 0; slot < CX_SLOT_COUNT; slot++) {
        cx_trace_layouts[slot] = (cx_trace_layout){.count = 0};
        make_layout(&cx_trace_layouts[slot], &rows[slot], (cx_slot)slot);
    }
}

#define ARGUMENTS(slot) ((const cx_arguments_##slot *)arguments)

static void of_launch(const cxu_launch_config *config, uint64_t *out)
{
    if (config == NULL)
        return;
    const uint64_t all[CX_TRACE_NUMBERS] = {
        config->grid_x,  config->grid_y,       config->grid_z, config->block_x,
        config->block_y, config->block_z, config->shared_bytes, (uintptr_t)config->stream};
    memcpy(out, all, sizeof all);
}

static void of_2d(const cxu_memcpy_2d *copy, uint64_t *out)
{
    if (copy == NULL)
        return;
    out[CX_TRACE_WIDTH] = copy->width_bytes;
    out[CX_TRACE_HEIGHT] = copy->height;
    out[CX_TRACE_DEPTH] = 1;
}

static void of_3d(const cxu_memcpy_3d *copy, uint64_t *out)
{
    if (copy == NULL)
        return;
    out[CX_TRACE_WIDTH] = copy->width_bytes;
    out[CX_TRACE_HEIGHT] = copy->height;
    out[CX_TRACE_DEPTH] = copy->depth;
}

void cx_trace_numbers(cx_slot slot, const void *arguments, uint64_t out[CX_TRACE_NUMBERS])
{
    switch (slot) {
    case CX_SLOT_launch_kernel_ex:
        of_launch(ARGUMENTS(launch_kernel_ex)->config, out);
        break;
    case CX_SLOT_memcpy_2d:
        of_2d(ARGUMENTS(memcpy_2d)->copy, out);
        break;
    case CX_SLOT_memcpy_2d_unaligned:
        of_2d(ARGUMENTS(memcpy_2d_unaligned)->copy, out);
        break;
    case CX_SLOT_memcpy_2d_async:
        of_2d(ARGUMENTS(memcpy_2d_async)->copy, out);
        break;
    case CX_SLOT_memcpy_3d:
        of_3d(ARGUMENTS(memcpy_3d)->copy, out);
        break;
    case CX_SLOT_memcpy_3d_async:
        of_3d(ARGUMENTS(memcpy_3d_async)->copy, out);
        break;
    default:
        break;
    }
}
