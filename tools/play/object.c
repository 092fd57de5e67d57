#include "play/object.h"

#include <stdlib.h>

struct cx_object {
    cx_player *player;
    CUuserObject handle;
    bool destroyed;
    struct cx_object *next;
};

static void note_destroyed(void *argument)
{
    struct cx_object *self = argument;
    cx_lock_enter(&self->player->lock);
    self->destroyed = true;
    pthread_cond_broadcast(&self->player->hosts);
    cx_lock_leave(&self->player->lock);
}

cxu_result cx_object_make(cx_player *player, unsigned int count, unsigned int flags,
                          CUuserObject *out_object)
{
    struct cx_object *self = calloc(1, sizeof *self);
    if (self == NULL)
        return CXU_OUT_OF_MEMORY;
    self->player = player;
    bool entered = cx_host_enter(player);
    cxu_result result = player->driver.table.user_object_create(&self->handle, self,
                                                                note_destroyed, count, flags);
    cx_host_leave(player, entered);
    cx_lock_enter(&player->lock);
    self->next = player->objects;
    player->objects = self;
    cx_lock_leave(&player->lock);
    *out_object = self->handle;
    return result;
}

/* Looks at the youngest object of the handle: drivers use handles again. */
bool cx_object_destroyed(cx_player *player, CUuserObject object, bool waits)
{
    cx_lock_enter(&player->lock);
    const struct cx_object *self = player->objects;
    while (self != NULL && self->handle != object)
        self = self->next;
    while (self != NULL && waits && !self->destroyed)
        cx_lock_wait(&player->lock, &player->hosts);
    bool destroyed = self != NULL && self->destroyed;
    cx_lock_leave(&player->lock);
    return destroyed;
}
