/*
 * ending HOW: a program that uses the Runtime API while it ends. Prints "ended" last if all went
 * well.
 *
 *   destructor  a destructor frees memory, launches, and unregisters the code
 *   atexit      a handler of atexit does so, which was added before the first call
 *   thread      main ends while a thread is in calls
 *   unused      code is registered and never used
 */
#include "code.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static code_add adds;
static uint32_t *words;
static const char *how = "";
static int has_failed;

#define must(call)                                                           \
    do {                                                                     \
        cxr_error cx_error_ = (call);                                        \
        if (cx_error_ != CXR_SUCCESS && cx_error_ != CXR_CUDART_UNLOADING) { \
            printf("%s: %s\n", #call, cudaGetErrorName(cx_error_));          \
            has_failed = 1;                                                  \
        }                                                                    \
    } while (0)

static void use(void)
{
    must(cudaMemset(words, 0, WORD_BYTES));
    must(code_launch_add(&adds, words, 1, NULL));
    must(cudaDeviceSynchronize());
    must(cudaFree(words));
}

static void finish(void)
{
    use();
    __cudaUnregisterFatBinary(adds.binary);
    must(cudaGetLastError());
    if (!has_failed)
        puts("ended");
}

__attribute__((destructor)) static void end(void)
{
    if (strcmp(how, "destructor") == 0)
        finish();
}

static void *work(void *started)
{
    for (;;) {
        void *memory = NULL;
        if (cudaMalloc(&memory, 256) == CXR_SUCCESS)
            (void)cudaFree(memory);
        sem_post(started);
    }
    return NULL;
}

int main(int count, char **arguments)
{
    static sem_t started;
    pthread_t thread;
    how = count == 2 ? arguments[1] : "";
    if (strcmp(how, "atexit") == 0)
        atexit(finish);
    code_add_register(&adds);
    if (strcmp(how, "unused") == 0) {
        __cudaUnregisterFatBinary(adds.binary);
        puts("ended");
        return 0;
    }
    must(cudaMalloc((void **)&words, WORD_BYTES));
    must(code_launch_add(&adds, words, 1, NULL));
    if (strcmp(how, "thread") == 0) {
        sem_init(&started, 0, 0);
        if (pthread_create(&thread, NULL, work, &started) != 0)
            return 2;
        sem_wait(&started);
        puts("ended");
    }
    return 0;
}
