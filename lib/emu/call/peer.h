/* Peer access between contexts. */
#ifndef CX_EMU_PEER_H
#define CX_EMU_PEER_H

#include "emu/context/context.h"

/* True if `context` has access to the memory of `peer`, both live. Lock held. */
bool cx_emu_peer_enabled(const cx_emu_context *context, const cx_emu_context *peer);

#endif
