/* Memory in stream order: T8, T12, T14. */
#include "model/state.h"

static bool make_memory(prediction *self, int stream, int context, int pool)
{
    cx_model *model = self->model;
    bool room;
    if (!take_from_pool(model, pool, &room))
        return false;
    if (!room)
        return answer(self, CXU_OUT_OF_MEMORY);
    work_set before = stream_before(model, stream, context);
    int work = add_work_alone(model, stream, context);
    if (work == NO_THING)
        return false;
    int index = model->buffer_count++;
    model->made++;
    model->buffers[index] =
        (state_buffer){.live = true, .context = context, .pool = 1 + pool, .written = before};
    set_add(&model->buffers[index].written, work);
    bind_name(self, CX_KIND_MEMORY, index);
    return answer(self, CXU_SUCCESS);
}

/* `pool_operand` 0: from the current pool of the stream's device. */
static bool allocate(prediction *self, int pool_operand, int stream_operand)
{
    int64_t bytes = number_of(self, 1);
    int stream, context, error, pool = NO_THING;
    if ((bytes != 0 && bytes != CX_MODEL_POOL_BYTES) ||
        !find_stream(self, stream_operand, &stream, &context, &error) ||
        (pool_operand != 0 && !find_pool(self, pool_operand, &pool)))
        return false;
    if (pool_operand == 0 && error == CXU_SUCCESS)
        pool = current_pool(self->model, self->model->contexts[context].device);
    cite(self, CX_RULE_T8);
    cite(self, CX_RULE_T14);
    if (error != CXU_SUCCESS)
        answer(self, error);
    if (pool == NO_THING && (error == CXU_SUCCESS || pool_operand != 0))
        answer(self, CXU_INVALID_VALUE);
    if (error != CXU_SUCCESS || pool == NO_THING)
        return true;
    return bytes == 0 ? answer(self, CXU_SUCCESS) : make_memory(self, stream, context, pool);
}

/* A free that may come before a use of the memory is undefined. */
static bool free_memory(prediction *self, int index, int stream, int context)
{
    cx_model *model = self->model;
    state_buffer *buffer = &model->buffers[index];
    work_set before = stream_before(model, stream, context);
    if ((buffer->pool == 0 && buffer->context != context) || !may_write(model, index, &before))
        return false;
    int work = add_work(model, stream, context, NULL);
    if (work == NO_THING)
        return false;
    cite(self, CX_RULE_T12);
    buffer->live = false;
    buffer->died = model->made;
    buffer->leaving = buffer->pool != 0 ? 1 + work : 0;
    return answer(self, CXU_SUCCESS);
}

static bool free_in_order(prediction *self)
{
    const cx_model *model = self->model;
    int stream, context, error, index = thing_of(self, 0, CX_KIND_MEMORY);
    if (index == UNKNOWN_THING || !find_stream(self, 1, &stream, &context, &error))
        return false;
    bool good = index != NO_THING && buffer_is_live(model, index);
    if (!good && index != NO_THING && !not_reused(model, model->buffers[index].died))
        return false;
    cite(self, CX_RULE_T8);
    if (error != CXU_SUCCESS)
        answer(self, error);
    if (!good)
        answer(self, CXU_INVALID_VALUE);
    return error != CXU_SUCCESS || !good || free_memory(self, index, stream, context);
}

/* ---- during captures ---- */

/* Freeing concerns GLOBAL captures only (G2). */
static bool forbids_frees(const prediction *self, const state_capture *capture)
{
    return capture->mode == MODE_GLOBAL && capture_forbids(self, capture);
}

static said refuse_free(prediction *self)
{
    cx_model *model = self->model;
    bool refused = false;
    int index = thing_of(self, 0, CX_KIND_MEMORY);
    for (int i = 0; i < model->capture_count; i++)
        refused = refused || forbids_frees(self, &model->captures[i]);
    if (!refused)
        return NO_MATTER;
    if (index < 0 || !buffer_is_live(model, index))
        return UNSAID;
    for (int i = 0; i < model->capture_count; i++)
        if (forbids_frees(self, &model->captures[i]))
            model->captures[i].invalid = true;
    cite(self, CX_RULE_G2);
    answer(self, CXU_STREAM_CAPTURE_UNSUPPORTED);
    return SAID;
}

/* In a capturing stream memory is the graph's (G7), of which nothing is predicted. */
said ask_ordered_in_capture(prediction *self)
{
    const cx_model *model = self->model;
    cx_verb_id verb = cx_verb_number(self->step->verb);
    bool frees = verb == CX_VERB_mem_free_async;
    int stream, context, error;
    if (!find_stream(self,
                     frees                             ? 1
                     : verb == CX_VERB_mem_alloc_async ? 2
                                                       : 3,
                     &stream, &context, &error))
        return UNSAID;
    if (error != CXU_SUCCESS)
        return NO_MATTER;
    if (stream == NO_THING ? context_captures(model, context, true)
                           : model->streams[stream].capture != 0)
        return UNSAID;
    return frees ? refuse_free(self) : NO_MATTER;
}

bool ask_ordered(prediction *self)
{
    switch (cx_verb_number(self->step->verb)) {
    case CX_VERB_mem_alloc_async:
        return allocate(self, 0, 2);
    case CX_VERB_mem_alloc_from:
        return allocate(self, 2, 3);
    case CX_VERB_mem_free_async:
        return free_in_order(self);
    default:
        return false;
    }
}
