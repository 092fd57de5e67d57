#include "play/scene.h"

#include "play/stacks.h"
#include <stdlib.h>
#include <string.h>

/* ---- finding ---- */

static bool is_alive(const cx_thing *thing)
{
    return thing->end == CX_THING_ALIVE || thing->end == CX_THING_RESET;
}

int cx_scene_find(const cx_scene *scene, cx_kind kind, cx_cell cell, bool alive)
{
    int found = -1;
    for (int i = 0; i < scene->count; i++)
        if (scene->all[i].kind == kind && scene->all[i].cell.bits == cell.bits &&
            (found < 0 || is_alive(&scene->all[i]) == alive ||
             is_alive(&scene->all[found]) != alive))
            found = i;
    return found;
}

/* NULL: none that is alive. */
static cx_thing *thing_of(const cx_scene *scene, cx_kind kind, cx_cell cell)
{
    int index = cx_scene_find(scene, kind, cell, true);
    return index >= 0 && is_alive(&scene->all[index]) ? &scene->all[index] : NULL;
}

static cx_thing *find_primary(const cx_scene *scene, int device)
{
    for (int i = scene->count - 1; i >= 0; i--)
        if (scene->all[i].primary && scene->all[i].device == device)
            return &scene->all[i];
    return NULL;
}

/* Memory that an address lies in. */
static const cx_thing *find_memory(const cx_scene *scene, cx_cell cell)
{
    for (int i = scene->count - 1; i >= 0; i--) {
        const cx_thing *each = &scene->all[i];
        if ((each->kind == CX_KIND_MEMORY || each->kind == CX_KIND_HOST) && is_alive(each) &&
            cell.bits - each->cell.bits < each->bytes)
            return each;
    }
    return NULL;
}

static int find_operand(const cx_verb *verb, const char *name)
{
    for (int i = 0; verb->operands[i].role != CX_ROLE_NONE; i++)
        if (strcmp(verb->operands[i].name, name) == 0)
            return i;
    return -1;
}

/* ---- making ---- */

static const char *what_of(const cx_call *call)
{
    switch (cx_verb_number(call->line->step.verb)) {
    case CX_VERB_host_alloc:
    case CX_VERB_host_alloc_flags:
        return "pinned memory";
    case CX_VERB_host_malloc:
        return "pageable memory";
    case CX_VERB_host_device:
        return "the device's address of pinned memory";
    case CX_VERB_mem_alloc_managed:
        return "managed memory";
    case CX_VERB_mem_alloc_async:
    case CX_VERB_mem_alloc_from:
    case CX_VERB_pool_share:
        return "memory of a pool";
    case CX_VERB_vmem_reserve:
        return "reserved addresses";
    case CX_VERB_ipc_open:
        return "memory of another process";
    default:
        return "memory";
    }
}

static bool what_outlives(const char *what)
{
    return strcmp(what, "pageable memory") == 0 || strcmp(what, "memory of a pool") == 0 ||
           strcmp(what, "reserved addresses") == 0;
}

static uint64_t bytes_of(const cx_scene *scene, const cx_call *call)
{
    const cx_verb *verb = call->line->step.verb;
    int bytes = find_operand(verb, "bytes"), height = find_operand(verb, "height");
    if (bytes >= 0)
        return call->in[bytes].size;
    if (height >= 0) /* cuMemAllocPitch gives the pitch */
        return call->out[1].size * call->in[height].size;
    const cx_thing *same = find_memory(scene, call->in[1]);
    return same != NULL ? same->bytes - (call->in[1].bits - same->cell.bits) : 0;
}

static cx_thing *add_thing(cx_scene *scene, const cx_call *call)
{
    const cx_step *step = &call->line->step;
    if (scene->count == scene->room) {
        int room = scene->room * 2 + 16;
        cx_thing *more = realloc(scene->all, (size_t)room * sizeof *more);
        if (more == NULL)
            return NULL;
        scene->all = more;
        scene->room = room;
    }
    scene->all[scene->count] = (cx_thing){.kind = step->verb->operands[0].kind,
                                          .cell = call->out[0],
                                          .name = step->operands[0].name,
                                          .made = call->line,
                                          .context = -1,
                                          .device = -1,
                                          .holds = 1,
                                          .stream = -1};
    return &scene->all[scene->count++];
}

static void make_context(cx_scene *scene, const cx_call *call, int current)
{
    bool primary = call->line->step.verb == &cx_verbs[CX_VERB_primary_retain];
    int device = find_operand(call->line->step.verb, "dev");
    cx_thing *again = primary ? find_primary(scene, call->in[device].integer)
                              : thing_of(scene, CX_KIND_CONTEXT, call->out[0]);
    if (again != NULL) {
        again->holds = again->end == CX_THING_DESTROYED ? 1 : again->holds + 1;
        again->end = CX_THING_ALIVE;
        again->name = call->line->step.operands[0].name;
        return;
    }
    cx_thing *made = add_thing(scene, call);
    if (made == NULL)
        return;
    made->primary = primary;
    made->device = device >= 0    ? call->in[device].integer
                   : current >= 0 ? scene->all[current].device
                                  : 0;
}

/* A stream of a green context belongs to that one's device, of which nothing more is known. */
static void make_thing(cx_scene *scene, const cx_call *call, int current)
{
    cx_kind kind = call->line->step.verb->operands[0].kind;
    if (kind == CX_KIND_CONTEXT) {
        make_context(scene, call, current);
        return;
    }
    if (kind != CX_KIND_STREAM && kind != CX_KIND_EVENT && kind != CX_KIND_MEMORY &&
        kind != CX_KIND_HOST)
        return;
    if (call->out[0].bits == 0) /* an allocation of 0 bytes */
        return;
    uint64_t bytes = kind == CX_KIND_MEMORY || kind == CX_KIND_HOST ? bytes_of(scene, call) : 0;
    cx_thing *made = add_thing(scene, call);
    if (made == NULL)
        return;
    made->what = what_of(call);
    made->bytes = bytes;
    made->outlives = what_outlives(made->what);
    if (strcmp(made->what, "pageable memory") == 0 || current < 0)
        return;
    made->context = current;
    made->device = kind == CX_KIND_HOST ? -1 : scene->all[current].device;
}

/* ---- ending ---- */

static void end_contents(cx_scene *scene, const cx_thing *context)
{
    int index = (int)(context - scene->all);
    for (int i = 0; i < scene->count; i++)
        if (scene->all[i].context == index && !scene->all[i].outlives && is_alive(&scene->all[i]))
            scene->all[i].end = CX_THING_WITH_CONTEXT;
}

static void end_context(cx_scene *scene, cx_thing *context)
{
    if (context == NULL)
        return;
    context->end = CX_THING_DESTROYED;
    context->holds = 0;
    end_contents(scene, context);
}

static void let_go(cx_scene *scene, cx_thing *context)
{
    if (context != NULL && --context->holds <= 0)
        end_context(scene, context);
}

static void end_thing(cx_thing *thing)
{
    if (thing != NULL)
        thing->end = CX_THING_DESTROYED;
}

static bool take_end(cx_scene *scene, const cx_call *call)
{
    cx_thing *primary;
    switch (cx_verb_number(call->line->step.verb)) {
    case CX_VERB_ctx_destroy:
        end_context(scene, thing_of(scene, CX_KIND_CONTEXT, call->in[0]));
        return true;
    case CX_VERB_ctx_detach:
        let_go(scene, thing_of(scene, CX_KIND_CONTEXT, call->in[0]));
        return true;
    case CX_VERB_primary_release:
        let_go(scene, find_primary(scene, call->in[0].integer));
        return true;
    case CX_VERB_primary_reset:
        primary = find_primary(scene, call->in[0].integer);
        if (primary != NULL && primary->end == CX_THING_ALIVE) {
            primary->end = CX_THING_RESET;
            end_contents(scene, primary);
        }
        return true;
    case CX_VERB_stream_destroy:
        end_thing(thing_of(scene, CX_KIND_STREAM, call->in[0]));
        return true;
    case CX_VERB_event_destroy:
        end_thing(thing_of(scene, CX_KIND_EVENT, call->in[0]));
        return true;
    case CX_VERB_mem_free:
    case CX_VERB_mem_free_async:
    case CX_VERB_vmem_free:
        end_thing(thing_of(scene, CX_KIND_MEMORY, call->in[0]));
        return true;
    case CX_VERB_host_free:
        end_thing(thing_of(scene, CX_KIND_HOST, call->in[0]));
        return true;
    default:
        return false;
    }
}

/* ---- changing ---- */

static void record_event(cx_scene *scene, const cx_call *call, cx_cell event, int stream)
{
    cx_thing *thing = thing_of(scene, CX_KIND_EVENT, event);
    if (thing == NULL)
        return;
    thing->recorded = call->line;
    thing->stream = stream;
}

static void note_capture(cx_scene *scene, cx_cell stream, bool capturing)
{
    cx_thing *thing = thing_of(scene, CX_KIND_STREAM, stream);
    if (thing != NULL)
        thing->capturing = capturing;
}

static void register_memory(cx_scene *scene, cx_cell memory, const char *what)
{
    cx_thing *thing = thing_of(scene, CX_KIND_HOST, memory);
    if (thing != NULL)
        thing->what = what;
}

static void take_change(cx_scene *scene, const cx_call *call)
{
    const cx_cell *in = call->in;
    switch (cx_verb_number(call->line->step.verb)) {
    case CX_VERB_event_record:
    case CX_VERB_event_record_flags:
        record_event(scene, call, in[0], cx_scene_find(scene, CX_KIND_STREAM, in[1], true));
        break;
    case CX_VERB_ctx_record:
        record_event(scene, call, in[1], -1);
        break;
    case CX_VERB_capture_begin:
    case CX_VERB_capture_begin_v1:
        note_capture(scene, in[0], true);
        break;
    case CX_VERB_capture_end:
        note_capture(scene, in[1], false);
        break;
    case CX_VERB_host_register:
        register_memory(scene, in[0], "registered memory");
        break;
    case CX_VERB_host_unregister:
        register_memory(scene, in[0], "pageable memory");
        break;
    default:
        break;
    }
}

void cx_scene_step(cx_player *player, const cx_call *call)
{
    cx_scene *scene = &player->scene;
    const cx_verb *verb = call->line->step.verb;
    cx_cell context = cx_stacks_current(&player->stacks, call->line->step.thread);
    if (call->result != CXU_SUCCESS)
        return;
    if (cx_verb_makes(verb) && call->out[0].bits != CX_CELL_UNTOUCHED)
        make_thing(scene, call, cx_scene_find(scene, CX_KIND_CONTEXT, context, true));
    if (!take_end(scene, call))
        take_change(scene, call);
}
