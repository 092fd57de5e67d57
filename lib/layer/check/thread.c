#include "layer/check/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void (*cx_check_thread_ends)(cx_check_thread *thread);

static cx_check_thread *threads;
static int last_number;

static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool key_made;
_Thread_local int cx_check_depth;
static _Thread_local cx_check_thread *here;
static _Thread_local bool ended;

static void end_thread(void *argument)
{
    cx_check_thread *thread = argument;
    cx_lock_enter(&cx_check_lock);
    if (thread->depth > 0 && cx_check_thread_ends != NULL && !atomic_load(&cx_region_of_parent))
        cx_check_thread_ends(thread);
    *thread->link = thread->next;
    if (thread->next != NULL)
        thread->next->link = thread->link;
    cx_lock_leave(&cx_check_lock);
    here = NULL;
    ended = true;
    free(thread->entries);
    free(thread->under_way);
    free(thread);
}

static void make_key(void)
{
    key_made = pthread_key_create(&key, end_thread) == 0;
}

/* NULL: no memory, or the thread's end would not be seen. */
static cx_check_thread *new_thread(void)
{
    pthread_once(&key_once, make_key);
    cx_check_thread *thread = key_made ? calloc(1, sizeof *thread) : NULL;
    if (thread != NULL && pthread_setspecific(key, thread) == 0)
        return thread;
    free(thread);
    return NULL;
}

static cx_check_thread *begin_thread(void)
{
    cx_check_thread *thread = new_thread();
    if (thread == NULL) {
        cx_region_give_up();
        return NULL;
    }
    (void)pthread_getname_np(pthread_self(), thread->name, sizeof thread->name);
    thread->main = getpid() == gettid();
    if (thread->main)
        strcpy(thread->name, "main");
    cx_lock_enter(&cx_check_lock);
    thread->number = ++last_number;
    thread->next = threads;
    thread->link = &threads;
    if (threads != NULL)
        threads->link = &thread->next;
    threads = thread;
    cx_lock_leave(&cx_check_lock);
    return thread;
}

cx_check_thread *cx_check_thread_self(void)
{
    if (here == NULL && !ended)
        here = begin_thread();
    return here;
}

cx_check_thread *cx_check_thread_known(void)
{
    return here;
}

int cx_check_thread_number(void)
{
    return here != NULL ? here->number : 0;
}

cx_check_entry *cx_check_push(cx_check_thread *thread, cx_object *context, cx_entry_how how,
                              cx_origin where)
{
    if (thread->depth == thread->capacity) {
        unsigned more = thread->capacity != 0 ? 2 * thread->capacity : 8;
        cx_check_entry *grown = realloc(thread->entries, more * sizeof *grown);
        if (grown == NULL) {
            cx_region_give_up();
            return NULL;
        }
        thread->entries = grown;
        thread->capacity = more;
    }
    cx_check_entry *entry = &thread->entries[thread->depth++];
    if (context != NULL)
        context->entered = true;
    *entry = (cx_check_entry){.context = context, .first = context, .how = how, .pushed = where};
    return entry;
}

void cx_check_pop(cx_check_thread *thread, cx_slot slot, cx_origin where)
{
    const cx_check_entry *top = cx_check_top(thread);
    if (top == NULL)
        return;
    thread->removal = (cx_check_removal){.context = top->context,
                                         .slot = slot,
                                         .where = where,
                                         .came = top->set != 0 ? top->set : top->pushed};
    thread->depth--;
}

cx_object *cx_check_current(const cx_check_thread *thread)
{
    const cx_check_entry *top = cx_check_top(thread);
    return top != NULL ? top->context : NULL;
}

unsigned cx_check_holders(const cx_object *context, const cx_check_thread *except,
                          void (*visit)(const cx_check_thread *thread, const cx_check_entry *entry,
                                        void *argument),
                          void *argument)
{
    unsigned count = 0;
    for (const cx_check_thread *thread = threads; thread != NULL; thread = thread->next)
        for (unsigned i = thread->depth; thread != except && i-- > 0;)
            if (thread->entries[i].context == context) {
                visit(thread, &thread->entries[i], argument);
                count++;
                break;
            }
    return count;
}

const cx_check_thread *cx_check_other_with_context(const cx_check_thread *self)
{
    for (const cx_check_thread *thread = threads; thread != NULL; thread = thread->next) {
        const cx_object *context = cx_check_current(thread);
        if (thread != self && context != NULL && context->live)
            return thread;
    }
    return NULL;
}

const cx_check_thread *cx_check_thread_main(void)
{
    const cx_check_thread *thread = threads;
    while (thread != NULL && !thread->main)
        thread = thread->next;
    return thread;
}

void cx_check_threads_fork(void)
{
    threads = here;
    if (here != NULL) {
        here->next = NULL;
        here->link = &threads;
    }
}
