#include "emu/report/error_log.h"
#include "base/lock.h"
#include "emu/base/state.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES 100
#define ENTRY_BYTES 512

typedef struct callback {
    cxu_logs_callback call;
    void *user_data;
    struct callback *next;
} callback;

static cx_lock log_lock = CX_LOCK_INIT(EMU_ERROR_LOG);
static char entries[ENTRIES][ENTRY_BYTES];
static cxu_log_iterator count; /* of all entries so far */
static callback *callbacks;

static char *entry_at(cxu_log_iterator index)
{
    return entries[index % ENTRIES];
}

static void tell_callbacks(cxu_log_level level, char *text)
{
    bool nested = cx_emu_in_callback;

    cx_emu_in_callback = true;
    for (const callback *each = callbacks; each != NULL; each = each->next)
        each->call(each->user_data, level, text, strlen(text));
    cx_emu_in_callback = nested;
}

void cx_emu_error_log(cxu_log_level level, const char *format, ...)
{
    va_list arguments;
    char *entry;
    int length;

    cx_lock_enter(&log_lock);
    entry = entry_at(count++);
    length = snprintf(entry, ENTRY_BYTES, level == CXU_LOG_LEVEL_ERROR ? "error: " : "warning: ");
    va_start(arguments, format);
    vsnprintf(entry + length, ENTRY_BYTES - (size_t)length, format, arguments);
    va_end(arguments);
    tell_callbacks(level, entry);
    cx_lock_leave(&log_lock);
}

/* ---- callbacks ---- */

cxu_result cx_emu_call_logs_register_callback(cxu_logs_callback call, void *user_data,
                                              CUlogsCallbackHandle *out_handle)
{
    callback *own;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (call == NULL || out_handle == NULL)
        return CXU_INVALID_VALUE;
    own = malloc(sizeof *own);
    if (own == NULL)
        return CXU_OUT_OF_MEMORY;
    cx_lock_enter(&log_lock);
    *own = (callback){call, user_data, callbacks};
    callbacks = own;
    cx_lock_leave(&log_lock);
    *out_handle = (CUlogsCallbackHandle)(void *)own;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_logs_unregister_callback(CUlogsCallbackHandle handle)
{
    callback **link, *own;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&log_lock);
    for (link = &callbacks; *link != NULL && (void *)*link != (void *)handle;)
        link = &(*link)->next;
    own = *link;
    if (own != NULL)
        *link = own->next;
    cx_lock_leave(&log_lock);
    free(own);
    return own != NULL ? CXU_SUCCESS : CXU_INVALID_VALUE;
}

/* ---- reading ---- */

cxu_result cx_emu_call_logs_current(cxu_log_iterator *out_iterator, unsigned int flags)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_iterator == NULL || flags != 0)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&log_lock);
    *out_iterator = count;
    cx_lock_leave(&log_lock);
    return CXU_SUCCESS;
}

static cxu_log_iterator oldest_from(const cxu_log_iterator *iterator)
{
    cxu_log_iterator oldest = count > ENTRIES ? count - ENTRIES : 0;

    return iterator != NULL && *iterator > oldest ? *iterator : oldest;
}

cxu_result cx_emu_call_logs_dump_to_file(cxu_log_iterator *iterator, const char *path,
                                         unsigned int flags)
{
    bool written = true;
    FILE *file;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (path == NULL || flags != 0)
        return CXU_INVALID_VALUE;
    file = fopen(path, "a");
    if (file == NULL)
        return cx_emu_system_result(CXU_INVALID_VALUE);
    cx_lock_enter(&log_lock);
    for (cxu_log_iterator i = oldest_from(iterator); i < count; i++)
        written = fprintf(file, "%s\n", entry_at(i)) > 0 && written;
    if (iterator != NULL)
        *iterator = count;
    cx_lock_leave(&log_lock);
    return fclose(file) == 0 && written ? CXU_SUCCESS : CXU_UNKNOWN;
}

/* The first entry from which on all fit into the buffer, with a zero behind them. */
static cxu_log_iterator first_fitting(cxu_log_iterator oldest, size_t capacity)
{
    cxu_log_iterator first = count;
    size_t bytes = 1;

    while (first > oldest && bytes + strlen(entry_at(first - 1)) + 1 <= capacity)
        bytes += strlen(entry_at(--first)) + 1;
    return first;
}

cxu_result cx_emu_call_logs_dump_to_memory(cxu_log_iterator *iterator, char *buffer, size_t *size,
                                           unsigned int flags)
{
    size_t length = 0;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (buffer == NULL || size == NULL || *size == 0 || flags != 0)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&log_lock);
    for (cxu_log_iterator i = first_fitting(oldest_from(iterator), *size); i < count; i++)
        length += (size_t)sprintf(buffer + length, "%s\n", entry_at(i));
    buffer[length] = '\0';
    if (iterator != NULL)
        *iterator = count;
    cx_lock_leave(&log_lock);
    *size = length;
    return CXU_SUCCESS;
}
