/* Device memory, and the effects of work on it: C3, T5, T11, T16. */
#include "model/state.h"

static bool alloc_memory(prediction *self)
{
    cx_model *model = self->model;
    int current = current_of(self);
    int64_t bytes = number_of(self, 1);
    if (bytes != 0 && bytes != BUFFER_BYTES)
        return false;
    if (!may_make(self, bytes == 0))
        return true;
    int index = model->buffer_count++;
    model->made++;
    model->buffers[index] = (state_buffer){
        .live = true, .context = current, .generation = model->contexts[current].generation};
    return bind_name(self, CX_KIND_MEMORY, index);
}

bool buffer_is_live(const cx_model *model, int index)
{
    const state_buffer *buffer = &model->buffers[index];
    return buffer->live &&
           (buffer->pool != 0 || belongs(model, buffer->context, buffer->generation));
}

/* Memory of a pool goes at once, and its users must be known to be over. */
static bool can_be_freed(const cx_model *model, const state_buffer *buffer)
{
    return buffer->pool != 0
               ? set_finished(model, &buffer->written) && set_finished(model, &buffer->read)
               : !set_blocked(model, &buffer->written) && !set_blocked(model, &buffer->read) &&
                     !kernel_blocked(model);
}

/* Any context may be current, or none (T5). Waits for the work that uses the memory (T12). */
static bool free_memory(prediction *self)
{
    cx_model *model = self->model;
    int index = thing_of(self, 0, self->step->verb->operands[0].kind);
    if (index == UNKNOWN_THING)
        return false;
    if (index == NO_THING)
        return self->step->verb == &cx_verbs[CX_VERB_mem_free] && answer(self, CXU_SUCCESS);
    state_buffer *buffer = &model->buffers[index];
    if (buffer_is_live(model, index) ? !can_be_freed(model, buffer)
                              : !not_reused(model, buffer->died))
        return false;
    cite(self, CX_RULE_T5);
    if (!buffer_is_live(model, index)) {
        if (buffer->live)
            cite(self, CX_RULE_C3);
        return answer(self, CXU_INVALID_VALUE);
    }
    cite(self, CX_RULE_T12);
    buffer->live = false;
    buffer->died = model->made;
    if (buffer->pool != 0)
        give_to_pool(model, buffer->pool - 1);
    return answer(self, CXU_SUCCESS);
}

/* ---- work on buffers ---- */

bool find_place(prediction *self, int operand, int *out_stream, int *out_context, int *out_error)
{
    if (!find_stream(self, operand, out_stream, out_context, out_error))
        return false;
    /* No rule requires the current context to be the stream's. */
    return *out_stream == NO_THING || *out_error != CXU_SUCCESS || current_of(self) == *out_context;
}

static bool is_ordered(const cx_model *model, const work_set *earlier, const work_set *before)
{
    return set_within(earlier, before, &model->done);
}

bool may_write(const cx_model *model, int index, const work_set *before)
{
    const state_buffer *buffer = &model->buffers[index];
    return is_ordered(model, &buffer->written, before) && is_ordered(model, &buffer->read, before);
}

bool may_read(const cx_model *model, int index, const work_set *before)
{
    const state_buffer *buffer = &model->buffers[index];
    return buffer->defined && !buffer->mixed && is_ordered(model, &buffer->written, before);
}

void write_buffer(cx_model *model, int index, int value, const work_set *before, int work)
{
    state_buffer *buffer = &model->buffers[index];
    buffer->defined = true;
    buffer->value = value;
    buffer->mixed = false;
    buffer->written = *before;
    buffer->read = (work_set){{0}};
    set_add(&buffer->written, work);
}

void read_buffer(cx_model *model, int index, const work_set *before, int work)
{
    set_unite(&model->buffers[index].read, before);
    set_add(&model->buffers[index].read, work);
}

/* True for a buffer that work of the context reaches without peer access. */
bool in_context(const cx_model *model, int index, int context)
{
    if (index < 0 || context < 0 || !buffer_is_live(model, index))
        return false;
    const state_buffer *buffer = &model->buffers[index];
    if (buffer->pool == 0)
        return buffer->context == context;
    return pool_reaches(model, buffer->pool - 1, model->contexts[context].device);
}

/* Fills are asynchronous, in the legacy stream too, but a plain one of memory that the host reaches
 * (T13). */
static bool fill_waits(const cx_model *model, int index, int stream_operand)
{
    return stream_operand < 0 && (is_managed(model, index) || is_of_the_host(model, index));
}

/* The scenario's next step shows their effect. */
static bool fill_memory(prediction *self, int stream_operand)
{
    cx_model *model = self->model;
    int stream = default_stream_of(self), context = current_of(self), error = CXU_SUCCESS;
    int index = thing_of(self, 0, CX_KIND_MEMORY);
    if (stream_operand < 0)
        error = current_state(self);
    else if (!find_place(self, stream_operand, &stream, &context, &error))
        return false;
    if (number_of(self, 2) != BUFFER_BYTES || index < 0)
        return false;
    if (error != CXU_SUCCESS)
        return buffer_is_live(model, index) ? answer(self, error) : false;
    work_set before = stream_before(model, stream, context);
    bool waits = fill_waits(model, index, stream_operand);
    if (!in_context(model, index, context) || !may_write(model, index, &before) ||
        (waits && set_blocked(model, &before)))
        return false;
    int work = add_work(model, stream, context, NULL);
    if (work == NO_THING)
        return false;
    cite(self, CX_RULE_T11);
    if (waits) {
        set_unite(&model->done, &before);
        set_add(&model->done, work);
    }
    write_buffer(model, index, (int)(number_of(self, 1) & 0xff), &before, work);
    return answer(self, CXU_SUCCESS);
}

/* ---- values ---- */

static bool is_met(uint32_t found, uint32_t wanted, int64_t condition)
{
    switch (condition) {
    case CXU_STREAM_WAIT_VALUE_GEQ: return (int32_t)(found - wanted) >= 0;
    case CXU_STREAM_WAIT_VALUE_EQ: return found == wanted;
    case CXU_STREAM_WAIT_VALUE_AND: return (found & wanted) != 0;
    default: return ~(found | wanted) != 0;
    }
}

/* True if the value that a stream waits for is there when its turn comes: no rule tells when other
 * values are seen. */
static bool value_comes(const prediction *self, const state_buffer *buffer, const work_set *before)
{
    uint32_t found = buffer->mixed ? buffer->word : (uint32_t)buffer->value * 0x01010101u;
    return buffer->defined && is_ordered(self->model, &buffer->written, before) &&
           is_met(found, (uint32_t)number_of(self, 2), number_of(self, 3));
}

static bool write_or_await(prediction *self, bool waits)
{
    cx_model *model = self->model;
    int stream, context, error, index = thing_of(self, 1, CX_KIND_MEMORY);
    int64_t flags = number_of(self, 3);
    if (!find_place(self, 0, &stream, &context, &error) || error != CXU_SUCCESS ||
        !in_context(model, index, context))
        return false;
    cite(self, CX_RULE_T16);
    if (flags < 0 || flags > (waits ? CXU_STREAM_WAIT_VALUE_NOR : 1) || is_managed(model, index))
        return answer(self, CXU_INVALID_VALUE);
    state_buffer *buffer = &model->buffers[index];
    work_set before = stream_before(model, stream, context);
    if (waits ? !value_comes(self, buffer, &before) : !may_write(model, index, &before))
        return false;
    int work = add_work(model, stream, context, NULL);
    if (work == NO_THING)
        return false;
    note_kernel(model, work, &before); /* frees wait for it as for a kernel */
    if (waits) {
        read_buffer(model, index, &before, work);
        return answer(self, CXU_SUCCESS);
    }
    write_buffer(model, index, buffer->value, &before, work);
    buffer->mixed = true;
    buffer->word = (uint32_t)number_of(self, 2);
    return answer(self, CXU_SUCCESS);
}

/* Reads through the legacy stream of the current context, and waits for it. */
static bool expect_bytes(prediction *self)
{
    cx_model *model = self->model;
    int context = current_of(self), index = thing_of(self, 0, CX_KIND_MEMORY);
    int64_t wanted = number_of(self, 1);
    if (current_state(self) != CXU_SUCCESS || number_of(self, 2) != BUFFER_BYTES || wanted < 0 ||
        wanted > 255 || !in_context(model, index, context))
        return false;
    int stream = default_stream_of(self);
    work_set before = stream_before(model, stream, context);
    if (set_blocked(model, &before) || !may_read(model, index, &before))
        return false;
    int work = add_work(model, stream, context, NULL);
    if (work == NO_THING)
        return false;
    set_unite(&model->done, &before);
    set_add(&model->done, work);
    cite(self, CX_RULE_T11);
    if (wanted == model->buffers[index].value)
        return answer(self, CXU_SUCCESS);
    answer(self, CX_PLAY_DIFFERS);
    answer_number(self, 0);
    return answer_number(self, model->buffers[index].value);
}

int cx_model_value(const cx_model *model, const char *memory)
{
    for (int i = 0; i < model->name_count; i++)
        if ((model->names[i].kind == CX_KIND_MEMORY || model->names[i].kind == CX_KIND_HOST) &&
            strcmp(model->names[i].name, memory) == 0)
            return model->buffers[model->names[i].index].value;
    return 0;
}

bool ask_memory(prediction *self)
{
    switch (cx_verb_number(self->step->verb)) {
    case CX_VERB_mem_alloc:
        return alloc_memory(self);
    case CX_VERB_mem_free:
    case CX_VERB_host_free: return free_memory(self);
    case CX_VERB_mem_fill:
        return fill_memory(self, -1);
    case CX_VERB_mem_fill_async:
        return fill_memory(self, 3);
    case CX_VERB_mem_expect:
        return expect_bytes(self);
    case CX_VERB_stream_write: return write_or_await(self, false);
    case CX_VERB_stream_await: return write_or_await(self, true);
    default: return false;
    }
}
