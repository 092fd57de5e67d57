#include "layer/check/exit.h"

#include "layer/check/region.h"
#include "layer/check/thread.h"

#include <stdlib.h>
#include <string.h>

int cx_check_exit_thread;
char cx_check_exit_thread_name[16];

void cx_check_note_exit(void)
{
    if (atomic_load(&cx_region_of_parent) || atomic_load(&cx_region_here->exiting) != 0)
        return;
    const cx_check_thread *thread = cx_check_thread_self();
    if (thread != NULL) {
        cx_check_exit_thread = thread->number;
        memcpy(cx_check_exit_thread_name, thread->name, sizeof cx_check_exit_thread_name);
    }
    atomic_store(&cx_region_here->exiting, 1);
}

/* Handlers that were registered later than ours run before it. But exit() ends the thread-local
 * objects of its thread first of all, and a thread's own end does so too. Those that were made
 * after ours are ended before it: their calls tell by their places that exit() has begun. */
__attribute__((weak)) int __cxa_thread_atexit_impl(void (*function)(void *argument), void *argument,
                                                   void *of_module);
static _Thread_local bool watches_exit;

static void end_thread_objects(void *unused)
{
    (void)unused;
    if (cx_origin_in_exit())
        cx_check_note_exit();
}

/* The C library ends the process if it finds no memory for a thread's object. What is free of more
 * than a thread's own list of small blocks keeps is for any of its requests. */
static bool has_memory(void)
{
    void *volatile some = malloc(2048); /* compilers leave out a request that nothing uses */
    free(some);
    return some != NULL;
}

void cx_check_watch_exit(void)
{
    if (watches_exit)
        return;
    watches_exit = true;
    if (cx_origin_in_exit())
        cx_check_note_exit();
    else if (!has_memory())
        cx_region_give_up();
    else if (__cxa_thread_atexit_impl != NULL)
        (void)__cxa_thread_atexit_impl(end_thread_objects, NULL, &cx_check_exit_thread);
}
