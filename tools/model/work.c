/* The order of work. */
#include "model/state.h"

bool set_blocked(const cx_model *model, const work_set *set)
{
    for (int i = 0; i < model->work_count; i++)
        if (model->works[i].gate != NULL && set_has(set, i))
            return true;
    return false;
}

bool set_finished(const cx_model *model, const work_set *set)
{
    return set_within(set, &model->done, &model->done);
}

work_set context_work(const cx_model *model, int context)
{
    work_set all = model->contexts[context].tail;
    set_unite(&all, &model->contexts[context].loose);
    for (int i = 0; i < model->stream_count; i++)
        if (stream_is_of(model, i, context))
            set_unite(&all, &model->streams[i].tail);
    return all;
}

/* T11: the legacy stream waits for the blocking streams of its context. */
work_set stream_work(const cx_model *model, int stream, int context)
{
    if (stream != NO_THING)
        return model->streams[stream].tail;
    work_set work = model->contexts[context].tail;
    for (int i = 0; i < model->stream_count; i++)
        if (model->streams[i].context == context && model->streams[i].blocking)
            set_unite(&work, &model->streams[i].tail);
    return work;
}

/* T11: and the blocking streams wait for the legacy stream. */
work_set stream_before(const cx_model *model, int stream, int context)
{
    work_set before = stream_work(model, stream, context);
    set_unite(&before, &model->contexts[context].barrier);
    if (stream != NO_THING && model->streams[stream].blocking)
        set_unite(&before, &model->contexts[context].tail);
    if (stream != NO_THING && model->streams[stream].green != 0 && !model->streams[stream].orphan)
        set_unite(&before, &model->contexts[model->streams[stream].green - 1].barrier);
    return before;
}

int add_loose_work(cx_model *model, int context, const char *gate)
{
    if (model->work_count == WORKS_MAX)
        return NO_THING;
    model->works[model->work_count] = (state_work){.gate = gate, .context = context};
    return model->work_count++;
}

static int add_work_after(cx_model *model, int stream, int context, const char *gate,
                          const work_set *before)
{
    int work = add_loose_work(model, context, gate);
    if (work == NO_THING)
        return NO_THING;
    work_set *tail =
        stream != NO_THING ? &model->streams[stream].tail : &model->contexts[context].tail;
    set_unite(tail, before);
    set_add(tail, work);
    return work;
}

int add_work_alone(cx_model *model, int stream, int context)
{
    int work = add_loose_work(model, context, NULL);
    if (work != NO_THING)
        set_add(stream != NO_THING ? &model->streams[stream].tail : &model->contexts[context].tail,
                work);
    return work;
}

int add_work(cx_model *model, int stream, int context, const char *gate)
{
    work_set before = stream_before(model, stream, context);
    return add_work_after(model, stream, context, gate, &before);
}

int add_work_behind(cx_model *model, int stream, int context, const work_set *others)
{
    work_set before = stream_before(model, stream, context);
    set_unite(&before, others);
    return add_work_after(model, stream, context, NULL, &before);
}

void answer_query(prediction *self, const work_set *set)
{
    if (set_finished(self->model, set)) {
        answer(self, CXU_SUCCESS);
    } else if (set_blocked(self->model, set)) {
        answer(self, CXU_NOT_READY);
    } else {
        answer(self, CXU_SUCCESS);
        answer(self, CXU_NOT_READY);
    }
}
