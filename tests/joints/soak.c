/*
 * The random mix by many threads, beside code that calls the driver itself and beside code that
 * calls the CUDA Runtime library: contexts and devices that these make current, and memory of their
 * own. The driver is the stand-in, or any libcuda (CTXRT_LIBCUDA).
 *
 *   soak [--seconds N] [--threads T] [--seed S]
 *
 * Prints the resident memory each 10 s. Fails if a status is unexpected, or, from two minutes on,
 * if the resident memory of the last tenth of the time is on average more than 8 MiB above that of
 * the second tenth. The mix itself holds more at one time than at another.
 */
#include "mix/blocks.h"
#include "mix/crowd.h"
#include "resident.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NATIVE_DEVICES = 3, OK_MIB = 8, FLAT_SECONDS = 120, LARGE_BYTES = 128 << 10 };

/* ---- other code ---- */

typedef struct CUctx_st *native_context;

static struct {
    int (*push)(native_context);
    int (*pop)(native_context *);
    int (*set)(native_context);
    int (*get)(native_context *);
    int (*retain)(native_context *, int device);
    int (*alloc)(unsigned long long *, size_t);
    int (*release)(unsigned long long);
    int (*synchronize)(void);
} native;

static native_context contexts[NATIVE_DEVICES];
static atomic_long foreign_calls;

static bool find(void *library, const char *name, void *out)
{
    void *found = dlsym(library, name);
    memcpy(out, &found, sizeof found);
    return found != NULL;
}

static bool find_all(const char *path)
{
    int (*init)(unsigned int);
    void *library = path != NULL ? dlopen(path, RTLD_NOW) : NULL;
    return library != NULL && find(library, "cuInit", &init) &&
           find(library, "cuCtxPushCurrent_v2", &native.push) &&
           find(library, "cuCtxPopCurrent_v2", &native.pop) &&
           find(library, "cuCtxSetCurrent", &native.set) &&
           find(library, "cuCtxGetCurrent", &native.get) &&
           find(library, "cuDevicePrimaryCtxRetain", &native.retain) &&
           find(library, "cuMemAlloc_v2", &native.alloc) &&
           find(library, "cuMemFree_v2", &native.release) &&
           find(library, "cuCtxSynchronize", &native.synchronize) && init(0) == 0;
}

static void check(actor *self, int result, const char *call)
{
    actor_note(self, "%s: %d", call, result);
    atomic_fetch_add_explicit(&foreign_calls, 1, memory_order_release);
    if (result != 0)
        actor_fail(self, "%s by other code gave %d", call, result);
}

/* A reset would free the memory, and its address could be ctxrt's before it is freed here. */
static void use_memory(actor *self)
{
    unsigned long long address = 0;
    pthread_rwlock_rdlock(&all.resetting);
    int result = native.alloc(&address, 1 + pick(self, 4096));
    actor_note(self, "cuMemAlloc: %d", result);
    if (result == 0)
        check(self, native.release(address), "cuMemFree");
    pthread_rwlock_unlock(&all.resetting);
}

/* ctxrt takes the context in as a foreign frame, and drops that when it is no longer current. */
static void use_ctxrt(actor *self)
{
    ctxrt_device device;
    void *pointer;
    (void)OK(self, ctxrt_device_get(&device));
    ctxrt_status status = ctxrt_alloc(1 + pick(self, 4096), &pointer);
    unsigned may = MAY(CTXRT_ERROR_OUT_OF_MEMORY);
    if (actor_met_any(self, TROUBLE_RESET))
        may |= MAY(CTXRT_ERROR_CONTEXT_DESTROYED);
    if (self->depth > 0) /* a frame of another driver stays on top */
        may |= may_of_frame(&self->frames[self->depth - 1]);
    if (actor_expect(self, status, may, "ctxrt_alloc beside other code's context"))
        (void)OK(self, ctxrt_free(pointer));
}

/* ---- code of the Runtime API ---- */

static struct {
    int (*set_device)(int);
    int (*get_device)(int *);
    int (*alloc)(void **, size_t);
    int (*fill)(void *, int, size_t);
    int (*copy)(void *, const void *, size_t, int kind);
    int (*release)(void *);
    int (*last_error)(void);
} cudart;

enum { CUDART_BYTES = 4096, CUDART_DEVICE_TO_HOST = 2 };

static bool find_runtime(void)
{
    void *library = dlopen(CUDART, RTLD_NOW);
    return library != NULL && find(library, "cudaSetDevice", &cudart.set_device) &&
           find(library, "cudaGetDevice", &cudart.get_device) &&
           find(library, "cudaMalloc", &cudart.alloc) &&
           find(library, "cudaMemset", &cudart.fill) && find(library, "cudaMemcpy", &cudart.copy) &&
           find(library, "cudaFree", &cudart.release) &&
           find(library, "cudaGetLastError", &cudart.last_error);
}

/* The context that is current is one of this device. */
static void use_runtime(actor *self, int device)
{
    unsigned char host[CUDART_BYTES], value = (unsigned char)pick(self, 256);
    void *memory = NULL;
    const size_t bytes = 1 + pick(self, CUDART_BYTES);
    int current = -1;
    pthread_rwlock_rdlock(&all.resetting);
    check(self, cudart.get_device(&current), "cudaGetDevice");
    if (current != device)
        actor_fail(self, "the Runtime API has device %d, not %d", current, device);
    check(self, cudart.alloc(&memory, bytes), "cudaMalloc");
    if (memory != NULL) {
        check(self, cudart.fill(memory, value, bytes), "cudaMemset");
        check(self, cudart.copy(host, memory, bytes, CUDART_DEVICE_TO_HOST), "cudaMemcpy");
        for (size_t i = 0; i < bytes; i++)
            if (host[i] != value) {
                actor_fail(self, "byte %zu of %zu of the Runtime API is %d, not %d", i, bytes,
                           host[i], value);
                break;
            }
        check(self, cudart.release(memory), "cudaFree");
    }
    check(self, cudart.last_error(), "cudaGetLastError");
    pthread_rwlock_unlock(&all.resetting);
}

/* ---- by turns with ctxrt ---- */

static void other_code(actor *self)
{
    native_context before = NULL, popped = NULL;
    const int number = (int)pick(self, NATIVE_DEVICES);
    native_context own = contexts[number];
    ctxrt_device device;
    check(self, native.get(&before), "cuCtxGetCurrent");
    if (chance(self, 50)) {
        check(self, native.push(own), "cuCtxPushCurrent");
        use_memory(self);
        if (chance(self, 50))
            use_runtime(self, number);
        if (chance(self, 50))
            use_ctxrt(self);
        check(self, native.pop(&popped), "cuCtxPopCurrent");
        if (popped != own)
            actor_fail(self, "other code found another context than it had pushed");
    } else if (before != NULL) {
        if (chance(self, 50)) {
            check(self, cudart.set_device(number), "cudaSetDevice");
            use_runtime(self, number);
        } else {
            check(self, native.set(own), "cuCtxSetCurrent");
            use_memory(self);
        }
        if (chance(self, 50))
            use_ctxrt(self);
        check(self, native.set(before), "cuCtxSetCurrent");
    }
    /* The foreign frame goes with the next call that asks the driver. */
    (void)OK_OR(self, ctxrt_device_get(&device), self->depth == 0 ? MAY(CTXRT_ERROR_NO_DEVICE) : 0);
    actor_compare(self);
}

/* ---- resident memory ---- */

static struct {
    double began_s, seconds;
    resident_average early, late; /* resident bytes */
    bool over;
    pthread_mutex_t lock;
    pthread_cond_t ends;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER, .ends = PTHREAD_COND_INITIALIZER};

static void note_resident(void)
{
    double now = now_s() - watch.began_s, tenth = watch.seconds / 10;
    size_t bytes = resident_now();
    if (now >= tenth && now < 2 * tenth)
        resident_add(&watch.early, bytes);
    if (now >= watch.seconds - tenth)
        resident_add(&watch.late, bytes);
    /* The threads begin after `all` was cleared: only then may it be read. */
    long foreign = atomic_load_explicit(&foreign_calls, memory_order_acquire);
    const struct mallinfo2 heap = mallinfo2();
    printf("# %5.0f s: %6.1f MiB resident, %.1f of %.1f MiB by malloc, %ld operations, %ld foreign "
           "calls\n",
           now, mib(bytes), mib(heap.uordblks + heap.hblkhd), mib(heap.arena + heap.hblkhd),
           foreign != 0 ? atomic_load(&all.operations) : 0, foreign);
    fflush(stdout);
}

static void *watch_memory(void *argument)
{
    struct timespec next;
    double step = watch.seconds / 20 < 10 ? watch.seconds / 20 : 10;
    pthread_mutex_lock(&watch.lock);
    while (!watch.over) {
        clock_gettime(CLOCK_REALTIME, &next);
        next.tv_nsec += (long)((step - (double)(long)step) * 1e9);
        next.tv_sec += (long)step + next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&watch.ends, &watch.lock, &next);
        if (!watch.over && now_s() - watch.began_s < watch.seconds)
            note_resident();
    }
    pthread_mutex_unlock(&watch.lock);
    return argument;
}

static bool memory_is_flat(void)
{
    size_t early = resident_average_of(&watch.early), late = resident_average_of(&watch.late);
    printf("# on average %.1f MiB resident in the second tenth, %.1f MiB in the last\n", mib(early),
           mib(late));
    return late <= early + ((size_t)OK_MIB << 20);
}

/* ---- all ---- */

static bool soak(run *how)
{
    pthread_t watcher;
    watch.began_s = now_s();
    how->until_s = watch.began_s + watch.seconds;
    if (pthread_create(&watcher, NULL, watch_memory, NULL) != 0)
        return false;
    bool good = crowd_run(how);
    pthread_mutex_lock(&watch.lock);
    watch.over = true;
    pthread_cond_signal(&watch.ends);
    pthread_mutex_unlock(&watch.lock);
    pthread_join(watcher, NULL);
    return good;
}

int main(int count, char **arguments)
{
    run how = {.seed = 1, .threads = 64, .libcuda = true, .beside = other_code};
    watch.seconds = 5;
    for (int i = 1; i + 1 < count; i += 2)
        if (strcmp(arguments[i], "--seconds") == 0)
            watch.seconds = strtod(arguments[i + 1], NULL);
        else if (strcmp(arguments[i], "--threads") == 0)
            how.threads = atoi(arguments[i + 1]);
        else if (strcmp(arguments[i], "--seed") == 0)
            how.seed = strtoull(arguments[i + 1], NULL, 0);
        else
            return 2;
    /* By itself glibc puts ever larger blocks into its arenas, where they leave holes of MiB when
     * they are freed: not memory that anybody holds. */
    (void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    setenv("CTXRT_EMU_DEVICES", "3", 0);
    setenv("CTXRT_EMU_MEMORY", "256M", 0);
    setenv("CTXRT_LIBCUDA", STAND_IN, 0);
    printf("1..2\n");
    bool good = find_all(getenv("CTXRT_LIBCUDA")) && find_runtime();
    for (int i = 0; good && i < NATIVE_DEVICES; i++)
        good = native.retain(&contexts[i], i) == 0;
    good = good && soak(&how);
    printf("%s 1 - many_threads_and_other_code_see_no_unexpected_status\n", good ? "ok" : "not ok");
    printf("%s 2 - resident_memory_does_not_grow_after_the_second_tenth_of_the_time%s\n",
           good && (watch.seconds < FLAT_SECONDS || memory_is_flat()) ? "ok" : "not ok",
           watch.seconds < FLAT_SECONDS ? " # SKIP it takes minutes to be flat" : "");
    return 0;
}
