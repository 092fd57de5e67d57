/* One moment at which every worker is in mid-flight, and the snapshot of it. */
#include "pipeline.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool write_text(pipeline *self)
{
    FILE *file = open_memstream(&self->snapshot, &self->snapshot_size);
    if (file == NULL)
        return false;
    ctxrt_status status = ctxrt_snapshot_write(file, CTXRT_SNAPSHOT_TEXT);
    return fclose(file) == 0 && status == CTXRT_SUCCESS;
}

static bool write_file(const pipeline *self)
{
    FILE *file = fopen(self->snapshot_file, "w");
    if (file == NULL)
        return false;
    ctxrt_status status = ctxrt_snapshot_write(file, CTXRT_SNAPSHOT_JSON);
    return fclose(file) == 0 && status == CTXRT_SUCCESS;
}

/* Once; lock held. The others wait, so the snapshot is of one moment. */
static bool take_snapshot(pipeline *self)
{
    bool taken = self->snapshot != NULL ||
                 (write_text(self) && (self->snapshot_file == NULL || write_file(self)));
    self->gathered = 0;
    pthread_cond_broadcast(&self->everybody);
    return taken;
}

static bool told(pipeline *self, bool taken)
{
    if (!taken)
        pipeline_fail(self, "the snapshot cannot be written: %s", strerror(errno));
    return taken;
}

bool gather(pipeline *self)
{
    bool taken = true;
    pthread_mutex_lock(&self->lock);
    if (self->snapshot == NULL) {
        self->gathered++;
        if (self->gathered == self->working)
            taken = take_snapshot(self);
        while (self->gathered != 0)
            pthread_cond_wait(&self->everybody, &self->lock);
    }
    pthread_mutex_unlock(&self->lock);
    return told(self, taken);
}

void gather_without(pipeline *self)
{
    bool taken = true;
    pthread_mutex_lock(&self->lock);
    self->working--;
    if (self->gathered != 0 && self->gathered == self->working)
        taken = take_snapshot(self);
    pthread_mutex_unlock(&self->lock);
    (void)told(self, taken);
}
