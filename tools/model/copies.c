/* Copies, batches of them, and pinned memory of the host: T5, T12, T13, T20. */
#include "model/state.h"

/* The memory of an operand, the device's or the host's. */
static int memory_of(const prediction *self, int operand)
{
    return thing_of(self, operand, self->step->verb->operands[operand].kind);
}

/* ---- pinned memory ---- */

static bool alloc_host(prediction *self)
{
    cx_model *model = self->model;
    int current = current_of(self);
    if (number_of(self, 1) != BUFFER_BYTES)
        return false;
    if (!may_make(self, false))
        return true;
    int index = model->buffer_count++;
    model->made++;
    model->buffers[index] = (state_buffer){
        .live = true, .context = current, .generation = model->contexts[current].generation};
    return bind_name(self, CX_KIND_HOST, index);
}

/* The host's own accesses, which wait for nothing. */
static bool fill_host(prediction *self)
{
    cx_model *model = self->model;
    int index = memory_of(self, 0);
    if (index < 0 || !buffer_is_live(model, index) || number_of(self, 2) != BUFFER_BYTES ||
        !may_write(model, index, &model->done))
        return false;
    state_buffer *buffer = &model->buffers[index];
    buffer->defined = true;
    buffer->value = (int)(number_of(self, 1) & 0xff);
    buffer->written = buffer->read = (work_set){{0}};
    return answer(self, CXU_SUCCESS);
}

static bool expect_host(prediction *self)
{
    const cx_model *model = self->model;
    int index = memory_of(self, 0);
    int64_t wanted = number_of(self, 1);
    if (index < 0 || !buffer_is_live(model, index) || number_of(self, 2) != BUFFER_BYTES ||
        wanted < 0 || wanted > 255 || !may_read(model, index, &model->done))
        return false;
    cite(self, CX_RULE_T13);
    if (wanted == model->buffers[index].value)
        return answer(self, CXU_SUCCESS);
    answer(self, CX_PLAY_DIFFERS);
    answer_number(self, 0);
    return answer_number(self, model->buffers[index].value);
}

/* ---- copies ---- */

static bool can_copy(const cx_model *model, int to, int from, int context, const work_set *before)
{
    return to != from && in_context(model, to, context) && in_context(model, from, context) &&
           may_write(model, to, before) && may_read(model, from, before);
}

static void copy_buffer(cx_model *model, int to, int from, const work_set *before, int work)
{
    write_buffer(model, to, model->buffers[from].value, before, work);
    read_buffer(model, from, before, work);
}

static bool copy_in_stream(prediction *self)
{
    cx_model *model = self->model;
    int stream, context, error, to = memory_of(self, 0), from = memory_of(self, 1);
    if (!find_place(self, 3, &stream, &context, &error) || error != CXU_SUCCESS ||
        number_of(self, 2) != BUFFER_BYTES)
        return false;
    work_set before = stream_before(model, stream, context);
    if (!can_copy(model, to, from, context, &before))
        return false;
    int work = add_work(model, stream, context, NULL);
    if (work == NO_THING)
        return false;
    cite(self, CX_RULE_T11);
    copy_buffer(model, to, from, &before, work);
    return answer(self, CXU_SUCCESS);
}

/* In the default stream. Between memory of the device nothing waits for it. */
static bool copy_at_once(prediction *self)
{
    cx_model *model = self->model;
    int stream = default_stream_of(self), context = current_of(self);
    int to = memory_of(self, 0), from = memory_of(self, 1);
    bool waits = cx_verb_number(self->step->verb) != CX_VERB_copy_dtod;
    if (current_state(self) != CXU_SUCCESS || number_of(self, 2) != BUFFER_BYTES)
        return false;
    work_set before = stream_before(model, stream, context);
    if (!can_copy(model, to, from, context, &before) || set_blocked(model, &before))
        return false;
    int work = add_work(model, stream, context, NULL);
    if (work == NO_THING)
        return false;
    cite(self, CX_RULE_T11);
    cite(self, CX_RULE_T13);
    copy_buffer(model, to, from, &before, work);
    if (waits) {
        set_unite(&model->done, &before);
        set_add(&model->done, work);
    }
    return answer(self, CXU_SUCCESS);
}

/* ---- batches ---- */

enum { TO, FROM, BYTES, SECOND_TO, SECOND_FROM, SECOND_BYTES, STREAM, ORDER, COUNT };

static bool is_good_batch(const prediction *self)
{
    return number_of(self, ORDER) >= CXU_MEMCPY_SRC_ACCESS_ORDER_STREAM &&
           number_of(self, ORDER) <= CXU_MEMCPY_SRC_ACCESS_ORDER_ANY &&
           number_of(self, BYTES) != 0 && number_of(self, SECOND_BYTES) != 0 &&
           number_of(self, COUNT) == 2;
}

/* True if the memory of the operands exists so far. */
static bool has_memory(const prediction *self)
{
    return memory_of(self, TO) != UNKNOWN_THING && memory_of(self, FROM) != UNKNOWN_THING &&
           memory_of(self, SECOND_TO) != UNKNOWN_THING &&
           memory_of(self, SECOND_FROM) != UNKNOWN_THING;
}

/* The copies are in no order: neither may touch what the other writes. */
static bool are_apart(const prediction *self)
{
    int to = memory_of(self, TO), other = memory_of(self, SECOND_TO);
    return to != other && to != memory_of(self, SECOND_FROM) && other != memory_of(self, FROM);
}

static bool submit_batch(prediction *self, int stream, int context)
{
    cx_model *model = self->model;
    int to = memory_of(self, TO), from = memory_of(self, FROM);
    int other_to = memory_of(self, SECOND_TO), other_from = memory_of(self, SECOND_FROM);
    work_set before = stream_before(model, stream, context);
    if (number_of(self, ORDER) == CXU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL ||
        number_of(self, BYTES) != BUFFER_BYTES || number_of(self, SECOND_BYTES) != BUFFER_BYTES ||
        !are_apart(self) || !can_copy(model, to, from, context, &before) ||
        !can_copy(model, other_to, other_from, context, &before))
        return false;
    int work = add_work(model, stream, context, NULL);
    if (work == NO_THING)
        return false;
    copy_buffer(model, to, from, &before, work);
    copy_buffer(model, other_to, other_from, &before, work);
    return answer(self, CXU_SUCCESS);
}

static bool copy_batch(prediction *self)
{
    int stream, context, error;
    if (!has_memory(self) || !find_place(self, STREAM, &stream, &context, &error))
        return false;
    bool is_default = stream == NO_THING || self->model->streams[stream].is_default;
    cite(self, CX_RULE_T20);
    if (error == CXU_SUCCESS && !is_default && is_good_batch(self))
        return submit_batch(self, stream, context);
    if (error != CXU_SUCCESS)
        answer(self, error);
    return error == CXU_SUCCESS || is_default || !is_good_batch(self)
               ? answer(self, CXU_INVALID_VALUE)
               : true;
}

bool copies_well(const prediction *self)
{
    int to = memory_of(self, 0), from = memory_of(self, 1), context = current_of(self);
    return to != from && in_context(self->model, to, context) &&
           in_context(self->model, from, context);
}

/* A batch is no work of a capture, which goes on. */
said ask_batch_in_capture(prediction *self)
{
    cx_model *model = self->model;
    int stream, context, error;
    if (!find_stream(self, STREAM, &stream, &context, &error) || error != CXU_SUCCESS)
        return UNSAID;
    int capture = stream != NO_THING ? model->streams[stream].capture : 0;
    if (capture == 0)
        return NO_MATTER;
    if (model->captures[capture - 1].invalid || !is_good_batch(self) ||
        !in_context(model, memory_of(self, TO), context) ||
        !in_context(model, memory_of(self, FROM), context) ||
        !in_context(model, memory_of(self, SECOND_TO), context) ||
        !in_context(model, memory_of(self, SECOND_FROM), context))
        return UNSAID;
    cite(self, CX_RULE_T20);
    answer(self, CXU_STREAM_CAPTURE_UNSUPPORTED);
    return SAID;
}

bool ask_copy(prediction *self)
{
    switch (cx_verb_number(self->step->verb)) {
    case CX_VERB_host_alloc: return alloc_host(self);
    case CX_VERB_host_fill: return fill_host(self);
    case CX_VERB_host_expect: return expect_host(self);
    case CX_VERB_copy_dtod_async:
    case CX_VERB_copy_htod_async:
    case CX_VERB_copy_dtoh_async: return copy_in_stream(self);
    case CX_VERB_copy_dtod:
    case CX_VERB_copy_htod:
    case CX_VERB_copy_dtoh: return copy_at_once(self);
    case CX_VERB_copy_batch: return copy_batch(self);
    default: return false;
    }
}
