#include "play/tape.h"

#include "play/print.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

cx_tape *cx_tape_create(const cx_scenario *scenario)
{
    size_t bytes = sizeof(cx_tape) + (size_t)scenario->line_count * sizeof(cx_came);
    cx_tape *tape = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tape == MAP_FAILED)
        return NULL;
    tape->bytes = bytes;
    tape->running = -1;
    return tape;
}

void cx_tape_destroy(cx_tape *tape)
{
    if (tape != NULL)
        munmap(tape, tape->bytes);
}

void cx_tape_say(cx_tape *tape, bool skipped, const char *format, ...)
{
    if (tape->skipped || tape->failed)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(tape->why, sizeof tape->why, format, arguments);
    va_end(arguments);
    *(skipped ? &tape->skipped : &tape->failed) = true;
}

cx_letter *cx_tape_letter(cx_tape *tape, const char *name, bool makes)
{
    for (int i = 0; i < CX_LETTERS_MAX; i++) {
        cx_letter *each = &tape->letters[i];
        if (each->name[0] == '\0' && makes)
            memcpy(each->name, name, strnlen(name, CX_NAME_MAX));
        if (strcmp(each->name, name) == 0)
            return each;
    }
    return NULL;
}

void cx_came_print(const cx_came *came, const cx_verb *verb, char *text, size_t size)
{
    cx_outcome outcome = {.result = came->result,
                          .untouched = came->untouched && came->result != CXU_SUCCESS,
                          .value_count = came->value_count};
    for (int i = 0; i < came->value_count; i++)
        outcome.values[i] = (cx_expected){.kind = came->values[i].kind,
                                          .name = came->values[i].name,
                                          .number = came->values[i].number};
    cx_step step = {.verb = verb, .outcomes = &outcome};
    cx_outcomes_print(&step, verb, text, size);
}
