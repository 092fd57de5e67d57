/* What the log says meanwhile: the lines are kept, and looked at afterwards. */
#ifndef CX_TEST_LOG_LINES_H
#define CX_TEST_LOG_LINES_H

#include <ctxrt/ctxrt.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef struct log_lines {
    pthread_mutex_t lock;
    size_t length;
    char text[1 << 16];
} log_lines;

static inline void log_lines_take(ctxrt_log_level level, const char *line, void *argument)
{
    log_lines *self = argument;
    (void)level;
    pthread_mutex_lock(&self->lock);
    int written =
        snprintf(self->text + self->length, sizeof self->text - self->length, "%s\n", line);
    if (written > 0 && self->length + (size_t)written < sizeof self->text)
        self->length += (size_t)written;
    pthread_mutex_unlock(&self->lock);
}

static inline int log_lines_with(log_lines *self, const char *part)
{
    int count = 0;
    pthread_mutex_lock(&self->lock);
    for (const char *found = strstr(self->text, part); found != NULL;
         found = strstr(found + 1, part))
        count++;
    pthread_mutex_unlock(&self->lock);
    return count;
}

#endif
