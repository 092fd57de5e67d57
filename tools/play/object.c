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
    pthread_mutex_lock(&self->player->lock);
    self->destroyed = true;
    pthread_cond_broadcast(&self->player->hosts);
    pthread_mutex_unlock(&self->player->lock);
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
    pthread_mutex_lock(&player->lock);
    self->next = player->objects;
    player->objects = self;
    pthread_mutex_unlock(&player->lock);
    *out_object = self->handle;
    return result;
}

/* Looks at the youngest object of the handle: drivers use handles again. */
bool cx_object_destroyed(cx_player *player, CUuserObject object, bool waits)
{
    pthread_mutex_lock(&player->lock);
    const struct cx_object *self = player->objects;
    while (self != NULL && self->handle != object)
        self = self->next;
    while (self != NULL && waits && !self->destroyed)
        pthread_cond_wait(&player->hosts, &player->lock);
    bool destroyed = self != NULL && self->destroyed;
    pthread_mutex_unlock(&player->lock);
    return destroyed;
}
