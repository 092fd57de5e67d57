#include "emu/context/output.h"

#include "emu/base/state.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct cx_emu_output {
    struct cx_emu_output *next;
    size_t length;
    bool failed;
    char text[];
} cx_emu_output;

_Atomic int cx_emu_outputs;

static void drop_oldest(cx_emu_context *context)
{
    cx_emu_output *oldest = context->output;

    context->output = oldest->next;
    if (context->output == NULL) {
        context->last_output = NULL;
        cx_emu_outputs--;
    }
    context->output_bytes -= oldest->length;
    free(oldest);
}

bool cx_emu_output_add(cx_emu_context *context, const char *text, size_t length, bool failed,
                       size_t *inout_lost)
{
    cx_emu_output *added = malloc(sizeof *added + length);

    if (added == NULL)
        return false;
    *added = (cx_emu_output){.length = length, .failed = failed};
    memcpy(added->text, text, length);
    cx_emu_outputs += context->output == NULL;
    *(context->last_output != NULL ? &context->last_output->next : &context->output) = added;
    context->last_output = added;
    context->output_bytes += length;
    while (context->output != NULL &&
           context->output_bytes > context->limits[CXU_LIMIT_PRINTF_FIFO_SIZE]) {
        drop_oldest(context);
        ++*inout_lost;
    }
    return true;
}

void cx_emu_output_flush(cx_emu_context *context)
{
    cx_emu_output *each = context->output, *next;

    if (each == NULL)
        return;
    context->output = context->last_output = NULL;
    context->output_bytes = 0;
    cx_emu_outputs--;
    cx_lock_leave(&cx_emu_lock);
    for (; each != NULL; each = next) {
        next = each->next;
        fwrite(each->text, 1, each->length, each->failed ? stderr : stdout);
        free(each);
    }
    fflush(stdout);
    cx_lock_enter(&cx_emu_lock);
}

void cx_emu_output_show_slowly(void)
{
    cx_emu_context *context;

    cx_lock_enter(&cx_emu_lock);
    if (cx_emu_context_identify(NULL, &context) == CXU_SUCCESS)
        cx_emu_output_flush(context);
    cx_lock_leave(&cx_emu_lock);
}
