/* Peers: E. */
#include "model/state.h"

/* Checks a peer context for the current one. *out_error: CXU_SUCCESS, or the error. False: no
 * prediction. */
static bool check_peer(prediction *self, int peer, int *out_error)
{
    const cx_model *model = self->model;
    *out_error = current_state(self);
    if (*out_error != CXU_SUCCESS)
        return true;
    *out_error = CXU_INVALID_CONTEXT;
    if (peer == NO_THING)
        return true;
    if (model->contexts[peer].green && model->contexts[peer].live) {
        *out_error = CXU_SUCCESS;
        return base_is_open(model, peer);
    }
    const state_context *context = &model->contexts[peer];
    if (context->live)
        *out_error = CXU_SUCCESS;
    return context->live || (!context->primary && not_reused(model, context->died));
}

static bool enable_peer(prediction *self)
{
    int error, peer = thing_of(self, 0, CX_KIND_CONTEXT);
    if (peer == UNKNOWN_THING || !check_peer(self, peer, &error))
        return false;
    cite(self, CX_RULE_E1);
    if (number_of(self, 1) != 0) {
        answer(self, CXU_INVALID_VALUE);
        return error == CXU_SUCCESS ? true : answer(self, error);
    }
    if (error != CXU_SUCCESS)
        return answer(self, error);
    state_context *current = &self->model->contexts[current_of(self)];
    peer = base_of(self->model, peer);
    if (current->device == self->model->contexts[peer].device)
        return answer(self, CXU_PEER_ACCESS_UNSUPPORTED);
    if (current->reaches[peer])
        return answer(self, CXU_PEER_ACCESS_ALREADY_ENABLED);
    current->reaches[peer] = true;
    return answer(self, CXU_SUCCESS);
}

static bool disable_peer(prediction *self)
{
    int error, peer = thing_of(self, 0, CX_KIND_CONTEXT);
    if (peer == UNKNOWN_THING || !check_peer(self, peer, &error))
        return false;
    cite(self, CX_RULE_E1);
    if (error != CXU_SUCCESS)
        return answer(self, error);
    state_context *current = &self->model->contexts[current_of(self)];
    peer = base_of(self->model, peer);
    if (!current->reaches[peer])
        return answer(self, CXU_PEER_ACCESS_NOT_ENABLED);
    current->reaches[peer] = false;
    return answer(self, CXU_SUCCESS);
}

static bool can_access(prediction *self)
{
    int64_t device = number_of(self, 0), peer = number_of(self, 1);
    if (!device_exists(self, device) || !device_exists(self, peer)) {
        cite(self, CX_RULE_I5);
        return answer(self, CXU_INVALID_DEVICE);
    }
    cite(self, CX_RULE_E1);
    answer(self, CXU_SUCCESS);
    return answer_number(self, device != peer);
}

/* The checks come in this order: the pointer, the devices, the attribute. */
static bool p2p_attribute(prediction *self)
{
    int64_t attribute = number_of(self, 0), from = number_of(self, 1), to = number_of(self, 2);
    cite(self, CX_RULE_E2);
    if (number_of(self, 3) == 0)
        return answer(self, CXU_INVALID_VALUE);
    if (!device_exists(self, from) || !device_exists(self, to) || from == to)
        return answer(self, CXU_INVALID_DEVICE);
    if (attribute < 1 || attribute > 4)
        return answer(self, CXU_INVALID_VALUE);
    return answer(self, CXU_SUCCESS);
}

bool ask_peer(prediction *self)
{
    switch (cx_verb_number(self->step->verb)) {
    case CX_VERB_peer_enable:
        return enable_peer(self);
    case CX_VERB_peer_disable:
        return disable_peer(self);
    case CX_VERB_device_can_access: return can_access(self);
    case CX_VERB_device_p2p:
        return p2p_attribute(self);
    default: return false;
    }
}
