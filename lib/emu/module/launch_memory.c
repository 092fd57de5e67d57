#include "emu/module/launch_memory.h"

#include "emu/base/state.h"
#include "emu/module/texture_reference.h"
#include "emu/module/watchdog.h"

#include <stdlib.h>
#include <time.h>

static cx_emu_use *use_at(cx_emu_run *run, size_t number)
{
    return number < CX_EMU_RUN_USES ? &run->first_uses[number]
                                    : &run->more_uses[number - CX_EMU_RUN_USES];
}

static bool note_use(cx_emu_run *run, cx_emu_use use)
{
    if (run->use_count == CX_EMU_RUN_USES + run->more_capacity) {
        size_t capacity = run->more_capacity ? 2 * run->more_capacity : CX_EMU_RUN_USES;
        cx_emu_use *uses = reallocarray(run->more_uses, capacity, sizeof *uses);

        if (uses == NULL)
            return false;
        run->more_uses = uses;
        run->more_capacity = capacity;
    }
    *use_at(run, run->use_count++) = use;
    cx_emu_allocation_use(use);
    cx_emu_allocation_reach(use, 1);
    return true;
}

static bool is_noted(cx_emu_run *run, const cx_emu_allocation *allocation)
{
    for (size_t i = 0; i < run->use_count; i++)
        if (use_at(run, i)->allocation == allocation)
            return true;
    return false;
}

/* The variables last as long as the work, even if the module is unloaded. */
static const cx_emu_allocation *variables_at(const cx_emu_run *run, uint64_t address)
{
    const cx_emu_allocation *both[] = {run->memory, run->managed};

    for (int i = 0; i < 2; i++)
        if (both[i] != NULL && address >= both[i]->address &&
            address - both[i]->address < both[i]->bytes)
            return both[i];
    return NULL;
}

/* Keeps the memory until the kernel is done: a free by another stream waits for that. `out_lacks`:
 * the host has no memory to note that. */
static bool find_range(cx_emu_run *run, uint64_t address, cx_ptx_range *out_range, bool *out_lacks)
{
    cx_emu_allocation *allocation = cx_emu_allocation_find_for_work(address, 1, CX_EMU_MEMORY_ANY);
    const cx_emu_allocation *variables = variables_at(run, address);
    cx_emu_use use;

    *out_lacks = false;
    if (variables != NULL) {
        *out_range =
            (cx_ptx_range){variables->address, variables->bytes, variables->mapped, false,
                           NULL, NULL};
        return true;
    }
    if (allocation == NULL || !cx_emu_allocation_reachable(allocation, run->context))
        return false;
    use = (cx_emu_use){allocation, allocation->address + allocation->bytes};
    if (!cx_emu_allocation_accessible(use, run->context->device, false))
        return false;
    if (!is_noted(run, allocation) && !note_use(run, use)) {
        *out_lacks = true;
        return false;
    }
    *out_range = (cx_ptx_range){allocation->address, allocation->bytes, allocation->mapped,
                                !cx_emu_allocation_accessible(use, run->context->device, true),
                                allocation->written, allocation->held};
    return true;
}

bool cx_emu_run_is_stopped(void *self)
{
    cx_emu_run *run = self;

    if (cx_emu_watchdog_passed(run->deadline))
        atomic_store(&run->timed_out, true);
    return atomic_load(&run->timed_out) ||
           cx_emu_teardown_deadline_is_over(&run->context->teardown_deadline) ||
           atomic_load_explicit(&cx_emu_current_phase, memory_order_relaxed) != CX_EMU_RUNNING;
}

bool cx_emu_run_await_memory(cx_emu_run *run)
{
    const struct timespec moment = {.tv_nsec = 1000000};

    if (cx_emu_run_is_stopped(run))
        return false;
    nanosleep(&moment, NULL);
    return true;
}

bool cx_emu_run_find_memory(void *self, uint64_t address, cx_ptx_range *out_range)
{
    bool found, lacks;

    do {
        cx_lock_enter(&cx_emu_lock);
        found = find_range(self, address, out_range, &lacks);
        cx_lock_leave(&cx_emu_lock);
    } while (lacks && cx_emu_run_await_memory(self));
    return found;
}

/* Keeps the memory of the object until the kernel is done, whatever becomes of the object. */
static bool find_object(cx_emu_run *run, uint64_t handle, bool is_surface,
                        cx_ptx_texture *out_texture, bool *out_lacks)
{
    cx_emu_use use;
    size_t index;
    bool found;

    *out_lacks = false;
    found = cx_ptx_is_reference(handle, &index)
                ? cx_emu_binding_describe(run->bindings, index, is_surface, run->context,
                                          out_texture, &use)
                : cx_emu_texture_describe(handle, is_surface, run->context,
                                          &run->texture_user, out_texture, &use);
    if (!found)
        return false;
    *out_lacks = !is_noted(run, use.allocation) && !note_use(run, use);
    return !*out_lacks;
}

bool cx_emu_run_find_texture(void *self, uint64_t handle, bool is_surface,
                             cx_ptx_texture *out_texture)
{
    bool found, lacks;

    do {
        cx_lock_enter(&cx_emu_lock);
        found = find_object(self, handle, is_surface, out_texture, &lacks);
        cx_lock_leave(&cx_emu_lock);
    } while (lacks && cx_emu_run_await_memory(self));
    return found;
}

void cx_emu_run_drop_memory(cx_emu_run *run)
{
    for (size_t i = 0; i < run->use_count; i++) {
        cx_emu_allocation_reach(*use_at(run, i), -1);
        cx_emu_allocation_drop(*use_at(run, i));
    }
    free(run->more_uses);
}
