#include "emu/module/hazard_text.h"

#include "emu/module/place_text.h"


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
    case CX_PTX_HAZARD_BLOCK_RACE:
        return CX_ACCESS_RACE_BLOCKS;
    case CX_PTX_HAZARD_DIVERGED:
        return CX_ACCESS_BARRIER_DIVERGED;
    case CX_PTX_HAZARD_ENDED:
        return CX_ACCESS_BARRIER_ENDED;
    default:
        return hazard->shared ? CX_ACCESS_UNWRITTEN_SHARED : CX_ACCESS_UNWRITTEN;
    }
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
    }
    return (cx_access_log_hazard){.kind = kind_of(hazard),
                                  .first = both ? first : NULL,
                                  .second = second,
                                  .memory = hazard->shared ? 0 : hazard->address};
}
