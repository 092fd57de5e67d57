#include "base/thread_texts.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { NAMES = 16 };

typedef struct thread_texts {
    char message[CX_THREAD_MESSAGE];
    char names[NAMES][CX_THREAD_NAME];
    unsigned turn;
} thread_texts;

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool key_made;
static _Thread_local thread_texts *here __attribute__((tls_model("initial-exec")));

static void end_thread(void *texts)
{
    here = NULL;
    free(texts);
}

static void make_key(void)
{
    key_made = pthread_key_create(&key, end_thread) == 0;
}

static thread_texts *texts_here(void)
{
    if (here != NULL)
        return here;
    pthread_once(&key_once, make_key);
    thread_texts *made = key_made ? calloc(1, sizeof *made) : NULL;
    if (made == NULL || pthread_setspecific(key, made) != 0) {
        free(made);
        return NULL;
    }
    return here = made;
}

char *cx_thread_message(void)
{
    thread_texts *texts = texts_here();
    return texts != NULL ? texts->message : NULL;
}

char *cx_thread_name_buffer(void)
{
    thread_texts *texts = texts_here();
    return texts != NULL ? texts->names[texts->turn++ % NAMES] : NULL;
}
