#include "layer/check/finding.h"

#include "base/clock.h"
#include "layer/names.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const cx_kind_row cx_kind_rows[CX_KIND_COUNT] = {
#define CX_KIND(id, name, severity, title, explanation, advice, rules) \
    [CX_KIND_##id] = {name, CX_SEVERITY_##severity, title, explanation, advice, rules},
#include "layer/check/kinds.def"
};

const cx_kind_words cx_kind_runtime[CX_KIND_COUNT] = {
#define CX_RUNTIME_KIND(id, title, advice) [CX_KIND_##id] = {title, advice},
#include "layer/check/kinds_runtime.def"
};

/* objects.def has a row of each kind but CX_HANDLE_NONE. */
enum {
    NAMED_KINDS = 0
#define CX_OBJECT_NAME(kind, text, left) +1
#include "layer/check/objects.def"
};
_Static_assert(NAMED_KINDS == CX_OBJECT_KINDS - 1, "objects.def lacks a kind of object");

cx_check_kind cx_kind_of_left(uint32_t object_kind)
{
    static const cx_check_kind kinds[CX_OBJECT_KINDS] = {
        [CX_HANDLE_NONE] = CX_KIND_COUNT,
#define CX_OBJECT_NAME(kind, text, left) [kind] = left,
#include "layer/check/objects.def"
    };
    return kinds[object_kind];
}

cx_finding cx_finding_begin(cx_check_kind kind, const cx_check_thread *thread, int slot,
                            cxu_result result, cx_origin at)
{
    cx_finding finding = {
        .record = {.kind = kind, .slot = slot, .result = (int)result, .trace = at}};
    if (thread != NULL) {
        finding.record.thread = thread->number;
        memcpy(finding.record.thread_name, thread->name, sizeof thread->name);
    }
    return finding;
}

void cx_finding_note(cx_finding *finding, const char *role, cx_origin where, const char *text, ...)
{
    cx_region_finding *record = &finding->record;
    if (record->note_count == CX_REGION_NOTES)
        return;
    cx_region_note *note = &record->notes[record->note_count++];
    va_list arguments;
    va_start(arguments, text);
    vsnprintf(note->text, sizeof note->text, text, arguments);
    va_end(arguments);
    snprintf(note->role, sizeof note->role, "%s", role);
    note->trace = where;
}

/* The last note gives way: without the advice the others mislead. */
void cx_finding_advise(cx_finding *finding, const char *advice)
{
    if (finding->record.note_count == CX_REGION_NOTES)
        finding->record.note_count--;
    cx_finding_note(finding, CX_FINDING_ADVICE, 0, "%s", advice);
}

static void note_end(cx_finding *finding, const cx_object *object, const char *text)
{
    char thread[32] = "";
    if (object->ended_on != 0 && object->ended_on != finding->record.thread)
        snprintf(thread, sizeof thread, " on thread %d", object->ended_on);
    if (object->ended_by >= 0)
        cx_finding_note(finding, "ended", object->ended, "%s was ended by %s%s", text,
                        cx_origin_call(object->ended, (cx_slot)object->ended_by), thread);
    else
        cx_finding_note(finding, "ended", object->ended, "%s has ended", text);
}

/* Adds the name that a runtime above the driver has for it. */
static void note_name(cx_finding *finding, const cx_object *object)
{
    char name[CX_REGION_TEXT];
    if (object->key.kind < CX_HANDLE_KINDS &&
        cx_layer_name_object((cx_handle_kind)object->key.kind, object->key.value, name,
                             sizeof name))
        cx_finding_note(finding, "ctxrt", 0, "it is %s", name);
}

void cx_finding_note_object(cx_finding *finding, const cx_object *object)
{
    char text[64], context[64];
    cx_object_text(object, text, sizeof text);
    if (object->context != NULL && object->key.kind != CX_HANDLE_CONTEXT) {
        cx_object_text(object->context, context, sizeof context);
        cx_finding_note(finding, "made", object->made, "%.40s belongs to %s", text, context);
    } else {
        cx_finding_note(finding, "made", object->made, "%s", text);
    }
    if (!cx_object_is_memory(object))
        note_name(finding, object);
    if (!object->live)
        note_end(finding, object, text);
}

void cx_finding_note_current(cx_finding *finding, const cx_check_thread *thread)
{
    static const char *const ways[] = {"pushed", "created", "set"};
    char text[64] = "an unknown context";
    const cx_check_entry *top = cx_check_top(thread);
    if (top == NULL)
        return;
    if (top->context != NULL)
        cx_object_text(top->context, text, sizeof text);
    if (top->set != 0)
        cx_finding_note(finding, "set", top->set, "current there: %s, set by %.40s", text,
                        cx_origin_module_name(top->set));
    else
        cx_finding_note(finding, "pushed", top->pushed, "current there: %s, %s by %.40s", text,
                        ways[top->how], cx_origin_module_name(top->pushed));
}

void cx_finding_note_removal(cx_finding *finding, const cx_check_thread *thread)
{
    const cx_check_removal *last = &thread->removal;
    char text[64] = "the last context";
    if (last->where == 0 || thread->depth != 0)
        return;
    if (last->context != NULL)
        cx_object_text(last->context, text, sizeof text);
    cx_finding_note(finding, "emptied", last->where, "%s took %s off the stack, the last",
                    cx_origin_call(last->where, last->slot), text);
    if (cx_origin_module(last->where) != cx_origin_module(last->came))
        cx_finding_note(finding, "set", last->came, "%.40s had made it current",
                        cx_origin_module_name(last->came));
}

static bool same_origins(const cx_region_finding *one, const cx_region_finding *other)
{
    if (one->kind != other->kind || one->slot != other->slot || one->trace != other->trace ||
        one->note_count != other->note_count)
        return false;
    for (uint32_t i = 0; i < one->note_count; i++)
        if (one->notes[i].trace != other->notes[i].trace)
            return false;
    return true;
}

/* The frame of a runtime above the driver that the calling thread works in. */
static void note_frame(cx_finding *finding)
{
    char frame[CX_REGION_TEXT];
    if (finding->record.thread == 0 || !cx_layer_name_frame(frame, sizeof frame))
        return;
    cx_finding_note(finding, "ctxrt", 0, "the thread works on %.80s", frame);
}

/* The names of kinds, with commas between and behind them. */
static bool breaks_at(uint32_t kind)
{
    const char *names = secure_getenv("CTXRT_CHECK_BREAK"), *name = cx_kind_rows[kind].name;
    const size_t length = strlen(name);
    for (; names != NULL && *names != '\0'; names += strspn(names, ",")) {
        if (strncmp(names, name, length) == 0 && (names[length] == ',' || names[length] == '\0'))
            return true;
        names += strcspn(names, ",");
    }
    return false;
}

void cx_finding_raise(const cx_finding *given)
{
    cx_finding named = *given, *finding = &named;
    cx_region *region = cx_region_here;
    if (cx_region_gave_up())
        return;
    note_frame(finding);
    unsigned count = atomic_load(&region->findings);
    for (unsigned i = 0; i < count; i++)
        if (same_origins(&region->all_findings[i], &finding->record)) {
            atomic_fetch_add(&region->all_findings[i].count, 1);
            return;
        }
    if (!cx_region_has_room(CX_REGION_ALL_FINDINGS, count)) {
        atomic_fetch_add(&region->unreported, 1);
        return;
    }
    region->all_findings[count] = finding->record;
    region->all_findings[count].time = cx_clock_ns();
    region->all_findings[count].tid = (int32_t)gettid();
    atomic_store(&region->all_findings[count].count, 1);
    atomic_store(&region->findings, count + 1);
    cx_finding_log(&finding->record);
    if (breaks_at(finding->record.kind))
        (void)raise(SIGTRAP);
}
