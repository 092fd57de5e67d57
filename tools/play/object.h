/*
 * User objects of a played scenario: each remembers whether its destructor has run. Records live to
 * the end of the process, since the driver may call the destructor at any time.
 */
#ifndef CX_PLAY_OBJECT_H
#define CX_PLAY_OBJECT_H

#include "play/player.h"

/* Makes one by cuUserObjectCreate. */
cxu_result cx_object_make(cx_player *player, unsigned int count, unsigned int flags,
                          CUuserObject *out_object);

/* True if the destructor of an object has run; `waits`: waits until it has. */
bool cx_object_destroyed(cx_player *player, CUuserObject object, bool waits);

#endif
