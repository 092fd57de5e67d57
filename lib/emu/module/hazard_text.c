#include "emu/module/hazard_text.h"

#include "emu/module/place_text.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_SHOWN 80

static void say_place(cx_text *to, const char *kernel, const cx_ptx_hazard_side *side)
{
    cx_emu_place_say(to, NAME_MAX_SHOWN,
                     &(cx_emu_place){kernel, side->line, side->source, side->source_line,
                                     side->block, side->thread});
}

void cx_emu_hazard_place(const char *kernel, const cx_ptx_hazard_side *side, char *text)
{
    cx_text to = {text, CX_EMU_HAZARD_MAX, 0};

    say_place(&to, kernel, side);
}

void cx_emu_hazard_output_say(const char *kernel, const cx_emu_hazard_output *output, char *text)
{
    cx_text to = {text, CX_EMU_HAZARD_MAX, 0};

    cx_text_add(&to, "kernel %.*s: ", NAME_MAX_SHOWN, kernel);
    if (output->lost != 0)
        cx_text_add(&to,
                    "the oldest %zu text%s gave way to what it printed; the buffer has %zu bytes",
                    output->lost, output->lost == 1 ? "" : "s", output->given);
    else
        cx_text_add(&to,
                    "%zu bytes of text waited for the host, and the program asked for a buffer of "
                    "%zu; this driver gave %zu",
                    output->most, output->asked, output->given);
}

static void say_access(cx_text *to, const cx_ptx_hazard *hazard, const cx_ptx_hazard_side *side)
{
    say_place(to, hazard->kernel, side);
    cx_text_add(to, ": a %s of %u byte%s at %s0x%llx", side->writes ? "write" : "read",
                hazard->bytes, hazard->bytes == 1 ? "" : "s", hazard->shared ? "offset " : "",
                (unsigned long long)hazard->address);
    if (hazard->shared)
        cx_text_add(to, " of shared memory");
}

static cx_access_log_hazard_kind kind_of(const cx_ptx_hazard *hazard)
{
    switch (hazard->kind) {
    case CX_PTX_HAZARD_RACE:
        return CX_ACCESS_RACE_SHARED;
    case CX_PTX_HAZARD_WARP_RACE:
        return CX_ACCESS_RACE_WARP;
    case CX_PTX_HAZARD_NOT_HELD:
        return CX_ACCESS_HEAP_NOT_HELD;
    case CX_PTX_HAZARD_BEYOND:
        return CX_ACCESS_BEYOND_ARRAY;
    case CX_PTX_HAZARD_BLOCK_RACE:
        return CX_ACCESS_RACE_BLOCKS;
    case CX_PTX_HAZARD_GLOBAL_RACE:
        return CX_ACCESS_RACE_GLOBAL;
    case CX_PTX_HAZARD_DIVERGED:
        return CX_ACCESS_BARRIER_DIVERGED;
    case CX_PTX_HAZARD_ENDED:
        return CX_ACCESS_BARRIER_ENDED;
    default:
        return hazard->shared ? CX_ACCESS_UNWRITTEN_SHARED : CX_ACCESS_UNWRITTEN;
    }
}

/* The name in the source of a variable of a function: "s" of "_ZZ9sharedtwoE1s". */
static const char *source_name(const char *name)
{
    const size_t length = strlen(name);

    if (strncmp(name, "_ZZ", 3) != 0)
        return name;
    for (size_t digits = 1; digits <= 3 && digits < length; digits++)
        for (size_t rest = 1; rest + digits < length; rest++) {
            const char *at = name + length - rest - digits;
            char *end;

            if (at[-1] < '0' || at[-1] > '9')
                if (strtoul(at, &end, 10) == rest && end == at + digits)
                    return end;
        }
    return name;
}

static void say_array(cx_text *to, const cx_ptx_hazard *hazard)
{
    const uint64_t begin = hazard->array_begin, end = begin + hazard->array_bytes;
    const bool behind = hazard->address + hazard->bytes > end;
    const uint64_t distance = !behind                 ? begin - hazard->address
                              : hazard->address > end ? hazard->address - end
                                                      : 0;

    if (distance > 0)
        cx_text_add(to, ", %llu byte%s", (unsigned long long)distance, distance == 1 ? "" : "s");
    cx_text_add(to, "%s %s the %u bytes of %s", distance > 0 ? "" : ", right",
                behind ? "behind" : "in front of", hazard->array_bytes, source_name(hazard->array));
}

static bool is_of_barrier(const cx_ptx_hazard *hazard)
{
    return hazard->kind == CX_PTX_HAZARD_DIVERGED || hazard->kind == CX_PTX_HAZARD_ENDED;
}

static void say_barrier(cx_text *first, cx_text *second, const cx_ptx_hazard *hazard)
{
    say_place(first, hazard->kernel, &hazard->first);
    cx_text_add(first, ": waits at the barrier");
    say_place(second, hazard->kernel, &hazard->second);
    if (hazard->kind == CX_PTX_HAZARD_ENDED)
        cx_text_add(second, ": has ended");
    else
        cx_text_add(second, ": is here without the barrier");
    if (hazard->threads > 1)
        cx_text_add(second, ", and so have %u other threads of the block", hazard->threads - 1);
}

cx_access_log_hazard cx_emu_hazard_describe(const cx_ptx_hazard *hazard, char *first, char *second)
{
    cx_text one = {first, CX_EMU_HAZARD_MAX, 0}, other = {second, CX_EMU_HAZARD_MAX, 0};
    const bool both = hazard->first.line != 0;

    if (is_of_barrier(hazard)) {
        say_barrier(&one, &other, hazard);
    } else {
        if (both)
            say_access(&one, hazard, &hazard->first);
        say_access(&other, hazard, &hazard->second);
        if (hazard->kind == CX_PTX_HAZARD_BEYOND)
            say_array(&other, hazard);
    }
    return (cx_access_log_hazard){.kind = kind_of(hazard),
                                  .first = both ? first : NULL,
                                  .second = second,
                                  .memory = hazard->shared ? 0 : hazard->address};
}
