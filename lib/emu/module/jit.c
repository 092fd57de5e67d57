#include "emu/module/jit.h"

#include "base/clock.h"
#include "base/log.h"
#include "emu/base/state.h"
#include "emu/report/not_supported.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define REGISTERS_OF_A_MULTIPROCESSOR 65536
#define REGISTERS_UNIT 8
#define REGISTERS_LEAST 16
#define WARP 32
#define OPTIONS_END 36 /* above those of CUDA 13 */
#define TARGET_FIRST 30
#define TARGET_LAST 121

/* ---- values ---- */

/* The last one counts. */
static void **value_of(const cx_emu_jit_options *self, cxu_jit_option which)
{
    void **found = NULL;

    for (unsigned int i = 0; i < self->count; i++)
        if (self->options[i] == which)
            found = &self->values[i];
    return found;
}

static unsigned int number_of(const cx_emu_jit_options *self, cxu_jit_option which)
{
    void **value = value_of(self, which);
    unsigned int number = 0;

    if (value != NULL)
        memcpy(&number, value, sizeof number);
    return number;
}

static void set_number(const cx_emu_jit_options *self, cxu_jit_option which, unsigned int number)
{
    void **value = value_of(self, which);

    if (value != NULL)
        memcpy(value, &number, sizeof number);
}

/* ---- what may be asked ---- */

/* The compute capability; variants of it (sm_90a) have higher bits. */
static bool is_target(unsigned int target)
{
    target &= 0xffff;
    return target >= TARGET_FIRST && target <= TARGET_LAST;
}

cxu_result cx_emu_jit_check(const cx_emu_jit_options *self)
{
    bool has_target = value_of(self, CXU_JIT_TARGET) != NULL;

    for (unsigned int i = 0; i < self->count; i++)
        if ((unsigned int)self->options[i] >= OPTIONS_END)
            return CXU_INVALID_VALUE;
    if (has_target && (value_of(self, CXU_JIT_THREADS_PER_BLOCK) != NULL ||
                       !is_target(number_of(self, CXU_JIT_TARGET))))
        return CXU_INVALID_VALUE;
    if (number_of(self, CXU_JIT_GLOBAL_SYMBOL_COUNT) > 0)
        return cx_emu_not_supported("CU_JIT_GLOBAL_SYMBOL_COUNT", "addresses of host symbols");
    return CXU_SUCCESS;
}

/* ---- limits ---- */

static unsigned int registers_for(unsigned int threads, unsigned int blocks)
{
    uint64_t warps = ((uint64_t)threads + WARP - 1) / WARP * blocks;

    return (unsigned int)(REGISTERS_OF_A_MULTIPROCESSOR / (warps * WARP) / REGISTERS_UNIT *
                          REGISTERS_UNIT);
}

unsigned int cx_emu_jit_registers(const cx_emu_jit_options *self)
{
    unsigned int limit = number_of(self, CXU_JIT_MAX_REGISTERS), other = 0;
    unsigned int threads = number_of(self, CXU_JIT_THREADS_PER_BLOCK);
    unsigned int most_threads = number_of(self, CXU_JIT_MAX_THREADS_PER_BLOCK);
    unsigned int blocks = number_of(self, CXU_JIT_MIN_CTA_PER_SM);

    if (threads > 0)
        other = registers_for(threads, 1);
    else if (limit == 0 && most_threads > 0 && blocks > 0)
        other = registers_for(most_threads, blocks);
    else if (limit == 0)
        return 0;
    if (limit == 0 || (threads > 0 && other < limit))
        limit = other;
    return limit < REGISTERS_LEAST ? REGISTERS_LEAST : limit;
}

/* ---- time ---- */

void cx_emu_jit_resume(cx_emu_jit_options *self)
{
    self->resumed_ns = cx_clock_ns();
}

void cx_emu_jit_pause(cx_emu_jit_options *self)
{
    void **value = value_of(self, CXU_JIT_WALL_TIME);
    float ms;

    self->spent_ns += cx_clock_ns() - self->resumed_ns;
    ms = (float)self->spent_ns / 1e6f;
    if (value != NULL)
        memcpy(value, &ms, sizeof ms);
}

/* ---- the user's logs ---- */

/* Makes an empty text, where there is room for one. */
static unsigned int begin_log(const cx_emu_jit_options *self, cxu_jit_option buffer,
                              cxu_jit_option size)
{
    void **text = value_of(self, buffer);
    unsigned int capacity = number_of(self, size);

    if (text != NULL && *text != NULL && capacity > 0)
        *(char *)*text = '\0';
    set_number(self, size, 0);
    return capacity;
}

void cx_emu_jit_begin(cx_emu_jit_options *self)
{
    const unsigned int threads = number_of(self, CXU_JIT_THREADS_PER_BLOCK);

    self->threads = threads;
    self->error_capacity =
        begin_log(self, CXU_JIT_ERROR_LOG_BUFFER, CXU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
    self->info_capacity =
        begin_log(self, CXU_JIT_INFO_LOG_BUFFER, CXU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
    set_number(self, CXU_JIT_THREADS_PER_BLOCK, (threads + WARP - 1) / WARP * WARP);
    self->spent_ns = 0;
}

void cx_emu_jit_undo(const cx_emu_jit_options *self)
{
    set_number(self, CXU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, self->error_capacity);
    set_number(self, CXU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, self->info_capacity);
    set_number(self, CXU_JIT_THREADS_PER_BLOCK, self->threads);
}

void cx_emu_jit_complain(const cx_emu_jit_options *self, const char *format, ...)
{
    void **buffer = value_of(self, CXU_JIT_ERROR_LOG_BUFFER);
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cx_log(CTXRT_LOG_WARNING, "embedded driver: %s", text);
    if (buffer == NULL || *buffer == NULL || self->error_capacity == 0)
        return;
    snprintf(*buffer, self->error_capacity, "%s", text);
    set_number(self, CXU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, (unsigned int)strlen(*buffer));
}

bool cx_emu_jit_is_verbose(const cx_emu_jit_options *self)
{
    return number_of(self, CXU_JIT_LOG_VERBOSE) != 0;
}

void cx_emu_jit_inform(const cx_emu_jit_options *self, const char *format, ...)
{
    void **buffer = value_of(self, CXU_JIT_INFO_LOG_BUFFER);
    size_t used;
    va_list arguments;

    if (buffer == NULL || *buffer == NULL || self->info_capacity == 0)
        return;
    used = strlen(*buffer);
    va_start(arguments, format);
    vsnprintf((char *)*buffer + used, self->info_capacity - used, format, arguments);
    va_end(arguments);
    set_number(self, CXU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, (unsigned int)strlen(*buffer));
}
