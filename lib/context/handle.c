/* Handles of operator libraries: one of each kind for each primary context, made on first use. */
#include "base/cancel.h"
#include "base/error.h"
#include "base/lock.h"
#include "context/observer.h"
#include "context/stack.h"
#include <stdlib.h>
#include <string.h>

#define KINDS_MAX 16
#define KIND_BYTES 32

typedef struct handle_kind {
    char name[KIND_BYTES];
    ctxrt_handle_create create;
    ctxrt_handle_destroy destroy;
    void *user_data;
} handle_kind;

/* In context->handles, the latest first. */
typedef struct made_handle {
    const handle_kind *kind;
    uint32_t epoch;
    void *handle;
    struct made_handle *next;
} made_handle;

/* Lock "handles": guards kinds, and the handles of all contexts. Held while a handle is made, so
 * that each is made once; recursive, since one library's handle may need another's. Before every
 * other lock. */
static cx_lock lock = CX_LOCK_INIT_RECURSIVE(HANDLES);
static handle_kind kinds[KINDS_MAX];
static int kind_count;

static const handle_kind *find_kind(const char *name)
{
    for (int i = 0; i < kind_count; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

static ctxrt_status add_kind(const char *name, ctxrt_handle_create create,
                             ctxrt_handle_destroy destroy, void *user_data)
{
    if (find_kind(name) != NULL)
        return cx_error(CTXRT_ERROR_ALREADY, "handles of the kind \"%s\" are registered already",
                        name);
    if (kind_count == KINDS_MAX)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY,
                        "%d kinds of handles are registered, and there can be no more", KINDS_MAX);
    handle_kind *kind = &kinds[kind_count++];
    memcpy(kind->name, name, strlen(name) + 1);
    kind->create = create;
    kind->destroy = destroy;
    kind->user_data = user_data;
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_handle_register(const char *name, ctxrt_handle_create create,
                                   ctxrt_handle_destroy destroy, void *user_data)
{
    if (name == NULL || create == NULL || destroy == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_handle_register: %s is NULL",
                        name == NULL     ? "kind"
                        : create == NULL ? "create"
                                         : "destroy");
    if (name[0] == '\0' || strlen(name) >= KIND_BYTES)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "ctxrt_handle_register: a kind has a name of 1 to %d bytes",
                        KIND_BYTES - 1);
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    cx_lock_enter(&lock);
    status = add_kind(name, create, destroy, user_data);
    cx_lock_leave(&lock);
    return status;
}

static made_handle *find_made(const cx_context *context, const handle_kind *kind)
{
    for (made_handle *made = context->handles; made != NULL; made = made->next)
        if (made->kind == kind && made->epoch == atomic_load(&context->epoch))
            return made;
    return NULL;
}

/* Lock held. A reset has destroyed the handles of before it. */
static void forget_older(cx_context *context)
{
    made_handle **link = &context->handles;
    while (*link != NULL) {
        made_handle *made = *link;
        if (made->epoch == atomic_load(&context->epoch)) {
            link = &made->next;
        } else {
            *link = made->next;
            free(made);
        }
    }
}

/* No frame has the context now, so no lock is needed. A reset has destroyed older handles: their
 * libraries are not called for them. */
static void close_handles(cx_context *context, bool current)
{
    while (context->handles != NULL) {
        made_handle *made = context->handles;
        context->handles = made->next;
        if (current && made->epoch == atomic_load(&context->epoch))
            made->kind->destroy(made->handle, made->kind->user_data);
        free(made);
    }
}

static void close_in_context(cx_context *context)
{
    close_handles(context, true);
}

static void forget_in_context(cx_context *context, bool for_good)
{
    if (for_good)
        close_handles(context, false);
}

/* Lock held, the context current as in a scope. */
static ctxrt_status make_handle(cx_context *context, ctxrt_device device, const handle_kind *kind,
                                made_handle **out_made)
{
    static const cx_observer observer = {.context_closes = close_in_context,
                                         .context_is_empty = forget_in_context};
    made_handle *made = calloc(1, sizeof *made);
    cx_observe(CX_OBSERVED_BY_HANDLES, &observer);
    if (made == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for a handle");
    made->kind = kind;
    made->epoch = atomic_load(&context->epoch);
    ctxrt_status status = kind->create(device, kind->user_data, &made->handle);
    if (status != CTXRT_SUCCESS) {
        free(made);
        return cx_error(status, "no handle of the kind \"%s\" for %s: its create returned %s",
                        kind->name, cx_device_text(device), ctxrt_status_name(status));
    }
    forget_older(context);
    made->next = context->handles;
    context->handles = made;
    *out_made = made;
    return CTXRT_SUCCESS;
}

static ctxrt_status get_handle(cx_context *context, ctxrt_device device, const char *name,
                               void **out_handle)
{
    const handle_kind *kind = find_kind(name);
    (void)cx_context_wait(context);
    if (kind == NULL)
        return cx_error(
            CTXRT_ERROR_INVALID_ARGUMENT,
            "no handles of the kind \"%s\" are registered: call ctxrt_handle_register first", name);
    made_handle *made = find_made(context, kind);
    ctxrt_status status = made != NULL ? CTXRT_SUCCESS : make_handle(context, device, kind, &made);
    if (status == CTXRT_SUCCESS)
        *out_handle = made->handle;
    return status;
}

/* The scope's frame keeps the context from ending during the call. */
ctxrt_status ctxrt_handle_get(ctxrt_device device, const char *name, void **out_handle)
{
    ctxrt_scope scope = {0};
    void *handle = NULL;
    if (name == NULL || out_handle == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_handle_get: %s is NULL",
                        name == NULL ? "kind" : "out_handle");
    ctxrt_status status = ctxrt_scope_enter(device, &scope);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_context *context = cx_frame_context(cx_thread_top(cx_thread_current));
    int cancel = cx_cancel_hold();
    cx_lock_enter(&lock);
    status = get_handle(context, device, name, &handle);
    cx_lock_leave(&lock);
    cx_cancel_restore(cancel);

    cx_error_saved saved;
    cx_error_save(&saved);
    ctxrt_status left = ctxrt_scope_leave(&scope);
    if (status != CTXRT_SUCCESS) {
        cx_error_restore(&saved);
        return status;
    }
    if (left == CTXRT_SUCCESS)
        *out_handle = handle;
    return left;
}
