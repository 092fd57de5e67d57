/* Peer access between contexts: who may reach whose memory. */
#ifndef CX_EMU_PEER_H
#define CX_EMU_PEER_H

#include "emu/context.h"

/* Whether `context` has access to the memory of `peer`, both live. Lock held. */
bool cx_emu_peer_enabled(const cx_emu_context *context, const cx_emu_context *peer);

#endif
