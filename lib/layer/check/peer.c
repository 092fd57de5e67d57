/* Peer access, which contexts give each other. */
#include "layer/check/check.h"

#include <stdlib.h>

typedef struct peer_access {
    const cx_object *from, *to; /* contexts, which stay; NULL: the entry is free */
} peer_access;

/* More are forgotten, the oldest first. */
enum { ACCESSES = 256 };
static peer_access accesses[ACCESSES];
static unsigned next;

static peer_access *find(const cx_object *from, const cx_object *to)
{
    for (unsigned i = 0; i < ACCESSES; i++)
        if (accesses[i].from == from && accesses[i].to == to)
            return &accesses[i];
    return NULL;
}

bool cx_check_has_access(const cx_object *from, const cx_object *to)
{
    return from != NULL && to != NULL && find(from, to) != NULL;
}

static void enabled(cx_check_call *call)
{
    const cx_object *from = cx_check_context(call);
    const cx_object *to = cx_object_find(
        CX_HANDLE_CONTEXT, (uintptr_t)CX_CALL(call, ctx_enable_peer_access)->peer);
    if (!cx_check_failed(call) && from != NULL && to != NULL && find(from, to) == NULL)
        accesses[next++ % ACCESSES] = (peer_access){from, to};
}

static void disabled(cx_check_call *call)
{
    const cx_object *from = cx_check_context(call);
    const cx_object *to = cx_object_find(
        CX_HANDLE_CONTEXT, (uintptr_t)CX_CALL(call, ctx_disable_peer_access)->peer);
    if (!cx_check_failed(call) && cx_check_has_access(from, to))
        *find(from, to) = (peer_access){NULL, NULL};
}

const cx_check_hooks cx_check_peer[CX_SLOT_COUNT] = {
    [CX_SLOT_ctx_enable_peer_access] = {NULL, enabled},
    [CX_SLOT_ctx_disable_peer_access] = {NULL, disabled},
};
