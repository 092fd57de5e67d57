/*
 * Findings: what the program did wrong. The functions need the lock "check".
 */
#ifndef CX_LAYER_CHECK_FINDING_H
#define CX_LAYER_CHECK_FINDING_H

#include "layer/check/thread.h"

typedef enum cx_check_kind {
#define CX_KIND(id, name, severity, title, explanation, advice, rules) CX_KIND_##id,
#include "layer/check/kinds.def"
    CX_KIND_COUNT
} cx_check_kind;

typedef enum cx_severity { CX_SEVERITY_NOTE, CX_SEVERITY_WARNING, CX_SEVERITY_ERROR } cx_severity;

/* rows[kind]: the facts of a kind. */
typedef struct cx_kind_row {
    const char *name;
    cx_severity severity;
    const char *title, *explanation, *advice, *rules;
} cx_kind_row;
extern const cx_kind_row cx_kind_rows[CX_KIND_COUNT];

/* The words of a kind for a call of the CUDA Runtime API. */
typedef struct cx_kind_words {
    const char *title, *advice;
} cx_kind_words;
extern const cx_kind_words cx_kind_runtime[CX_KIND_COUNT];

static inline cx_kind_words cx_kind_words_for(const cx_kind_row *row, const cx_kind_words *runtime)
{
    return (cx_kind_words){runtime->title != NULL ? runtime->title : row->title,
                           runtime->advice != NULL ? runtime->advice : row->advice};
}

/* True for kinds of what is left: they are told only when asked for. */
static inline bool cx_kind_is_leak(uint32_t kind)
{
    return (kind >= CX_KIND_LIFE_CONTEXT && kind <= CX_KIND_LIFE_REGISTERED) ||
           kind == CX_KIND_PRIMARY_KEPT || kind == CX_KIND_KERNEL_HEAP_LEFT;
}

/* The kind that says that an object of this kind is left; CX_KIND_COUNT: none does. */
cx_check_kind cx_kind_of_left(uint32_t object_kind);

/* One finding, while it is put together. */
typedef struct cx_finding {
    cx_region_finding record;
} cx_finding;

/* `slot` -1: of no call. */
cx_finding cx_finding_begin(cx_check_kind kind, const cx_check_thread *thread, int slot,
                            cxu_result result, cx_origin at);

/* Adds a line; `role` is one word: made, ended, pushed, set, emptied, current, first, second,
 * other, cause, node, launched, reason, likely. More than fit are left out. */
__attribute__((format(printf, 4, 5))) void cx_finding_note(cx_finding *finding, const char *role,
                                                           cx_origin where, const char *text, ...);

/* Gives the finding an advice of its own, in place of that of its kind. */
#define CX_FINDING_ADVICE "advice"
void cx_finding_advise(cx_finding *finding, const char *advice);

/* "stream 3 of GPU 0", where it was made and, if it has ended, where. */
void cx_finding_note_object(cx_finding *finding, const cx_object *object);

/* The context that is current on the thread, and who made it so. */
void cx_finding_note_current(cx_finding *finding, const cx_check_thread *thread);

/* The call that took the last context off the thread's stack, and who had put it there; nothing if
 * the thread never had one. */
void cx_finding_note_removal(cx_finding *finding, const cx_check_thread *thread);

/* Records it, or counts it if the same kind came from the same origins before. */
void cx_finding_raise(const cx_finding *finding);

/* ---- without `ctxrt check` in front ---- */

/* Logs the finding, in one line. */
void cx_finding_log(const cx_region_finding *found);

/* Prints a line with the number of each kind, if there were findings. */
void cx_finding_summarise(void);

#endif
