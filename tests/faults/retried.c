/*
 * The calls of the embedded driver once more, for programs that are linked with --wrap of each of
 * them (retried.wraps). With CTXRT_TEST_NO_MEMORY=N in the environment, allocation N of each call
 * finds no memory, then, if the call says so, N + 1 and so on until it is done: a call that is
 * refused has changed nothing, so what is above sees no difference. Any other answer than that ends
 * the process.
 *
 * CTXRT_TEST_NO_MEMORY_LOG=FILE: a process adds a line there when a call is first done ("done
 * SYMBOL"), first lacks memory ("refused SYMBOL") and is first done without it ("absorbed SYMBOL").
 */
#include "host_memory.h"

#include "driver/parameters.h"
#include "driver/table.h"
#include "emu/emu.h"
#include "emu/base/state.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    cxu_result __real_cx_emu_call_##slot CX_DECLARE(arity, parameters);       \
    cxu_result __wrap_cx_emu_call_##slot CX_DECLARE(arity, parameters);
#include "driver/symbols.def"

#if HOST_MEMORY_IS_OURS

typedef enum note { DONE, REFUSED, ABSORBED, NOTES } note;

static const char *const note_names[] = {"done", "refused", "absorbed"};
static atomic_bool noted[NOTES][CX_SLOT_COUNT];
static _Thread_local int depth; /* calls that this thread is in */

/* 0: no call lacks memory. */
static long first_number(void)
{
    static long first = -1;
    if (first < 0) {
        const char *text = getenv("CTXRT_TEST_NO_MEMORY");
        first = text != NULL ? atol(text) : 0;
    }
    return first;
}

static void write_note(note what, cx_slot slot)
{
    const char *path = getenv("CTXRT_TEST_NO_MEMORY_LOG");
    char line[120];
    if (path == NULL || atomic_exchange(&noted[what][slot], true))
        return;
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    int length = snprintf(line, sizeof line, "%s %s\n", note_names[what], cx_symbols[slot].symbol);
    if (file < 0 || write(file, line, (size_t)length) != length)
        abort();
    close(file);
}

/* The progress of a call that is made again and again. */
typedef struct attempt {
    cx_slot slot;
    long number;        /* of the allocation that fails; 0: none does */
    bool passes;        /* inside another one, or nothing fails in this process */
    bool in_callback;   /* of the user's, which knows no failures */
    cxu_result refused; /* the answer that must come again without a failure */
} attempt;

static attempt begin_attempt(cx_slot slot)
{
    attempt self = {.slot = slot, .number = first_number(), .in_callback = cx_emu_in_callback};
    self.passes = self.number == 0 || depth > 0;
    if (depth > 0 && self.in_callback)
        host_memory_pause();
    depth++;
    if (!self.passes)
        host_memory_arm(self.number);
    return self;
}

static void end_attempt(const attempt *self)
{
    depth--;
    if (depth > 0 && self->in_callback)
        host_memory_resume();
}

static void complain(const attempt *self, const char *what, cxu_result result)
{
    fprintf(stderr, "%s, allocation %ld failed: %s: %d\n", cx_symbols[self->slot].symbol,
            self->number, what, (int)result);
    abort();
}

/* True: the call is to be made once more. */
static bool must_try_again(attempt *self, cxu_result result)
{
    if (first_number() > 0 && result == CXU_SUCCESS)
        write_note(DONE, self->slot);
    if (self->passes)
        return false;
    bool struck = host_memory_struck();
    host_memory_disarm();
    if (self->number == 0) {
        if (result != self->refused && self->refused != CXU_NOT_READY)
            complain(self, "the answer depends on memory", self->refused);
        return false;
    }
    if (!struck)
        return false;
    write_note(result == CXU_OUT_OF_MEMORY ? REFUSED : ABSORBED, self->slot);
    if (result == CXU_SUCCESS)
        return false;
    if (result == CXU_OUT_OF_MEMORY) {
        host_memory_arm(++self->number);
        return true;
    }
    self->refused = result;
    self->number = 0;
    return true;
}

#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    cxu_result __wrap_cx_emu_call_##slot CX_DECLARE(arity, parameters)        \
    {                                                                         \
        attempt tried = begin_attempt(CX_SLOT_##slot);                        \
        cxu_result answer;                                                    \
        do                                                                    \
            answer = __real_cx_emu_call_##slot CX_PASS(arity, parameters);    \
        while (must_try_again(&tried, answer));                               \
        end_attempt(&tried);                                                  \
        return answer;                                                        \
    }
#include "driver/symbols.def"

#else

#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    cxu_result __wrap_cx_emu_call_##slot CX_DECLARE(arity, parameters)        \
    {                                                                         \
        return __real_cx_emu_call_##slot CX_PASS(arity, parameters);          \
    }
#include "driver/symbols.def"

#endif
