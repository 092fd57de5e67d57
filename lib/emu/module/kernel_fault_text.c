#include "emu/module/kernel_fault_text.h"

#include "emu/base/state.h"
#include "emu/device/device.h"
#include "emu/memory/freed.h"
#include "emu/module/module.h"
#include "emu/module/place_text.h"

#include <stdio.h>
#include <string.h>

#define NAME_MAX_SHOWN 120
#define NULL_PAGE ((uint64_t)64 << 10)

typedef unsigned long long ull;

/* ---- where ---- */

static void say_place(cx_text *to, const cx_emu_run *run, const cx_ptx_fault *fault)
{
    const char *kernel = fault->kernel != NULL
                             ? fault->kernel
                             : cx_ptx_kernel_describe(run->code->ptx, run->kernel).name;

    cx_emu_place_say(to, NAME_MAX_SHOWN,
                     &(cx_emu_place){kernel, fault->line, fault->source, fault->source_line,
                                     fault->block, fault->thread});
}

/* ---- the access ---- */

static const char *verb_of(const cx_ptx_fault *fault)
{
    if (fault->atomic)
        return "an atomic operation on";
    return fault->writes ? "a write of" : "a read of";
}

/* A texture or surface object, and where the access was to be. */
static void say_object(cx_text *to, const cx_emu_run *run, const cx_ptx_fault *fault)
{
    size_t reference;

    if (cx_ptx_is_reference(fault->address, &reference))
        cx_text_add(to, ", %s reference '%.80s'", fault->object,
                    cx_ptx_reference_at(run->code->ptx, reference)->name);
    else
        cx_text_add(to, ", %s object %#llx", fault->object, (ull)fault->address);
    if (fault->extent[0] == 0 && cx_ptx_is_reference(fault->address, &reference)) {
        cx_text_add(to, ", to which nothing was bound at the launch, or whose memory is gone");
        return;
    }
    if (fault->extent[0] == 0) {
        cx_text_add(to, ", which is none of the context's, or whose memory is gone");
        return;
    }
    cx_text_add(to, ": %s %u byte%s at byte %d of row %d of slice %d", verb_of(fault), fault->bytes,
                fault->bytes == 1 ? "" : "s", (int)fault->place[0], (int)fault->place[1],
                (int)fault->place[2]);
    cx_text_add(to, ", of a surface of %u bytes x %u x %u", fault->extent[0], fault->extent[1],
                fault->extent[2]);
}

static void say_access(cx_text *to, const cx_emu_run *run, const cx_ptx_fault *fault)
{
    if (fault->object != NULL) {
        say_object(to, run, fault);
        return;
    }
    cx_text_add(to, ", address %#llx", (ull)fault->address);
    if (fault->space != NULL)
        cx_text_add(to, " of %s memory", fault->space);
    if (fault->bytes)
        cx_text_add(to, ": %s %u byte%s", verb_of(fault), fault->bytes,
                    fault->bytes == 1 ? "" : "s");
    else
        cx_text_add(to, ": a use");
}

/* The access leaves [begin, begin + size): says on which side, and by how much. */
static void say_distance(cx_text *to, const cx_ptx_fault *fault, uint64_t begin, uint64_t size,
                         const char *noun)
{
    uint64_t end = begin + size, distance;

    if (fault->address >= begin && fault->address < end) {
        cx_text_add(to, ", running %llu bytes over the end of ",
                    (ull)(fault->address + fault->bytes - end));
    } else {
        distance = fault->address < begin ? begin - fault->address : fault->address - end;
        if (fault->address < begin)
            cx_text_add(to, ", %llu bytes before ", (ull)distance);
        else if (distance == 0)
            cx_text_add(to, ", right behind the end of ");
        else
            cx_text_add(to, ", %llu bytes behind the end of ", (ull)distance);
    }
    cx_text_add(to, "%s of %llu bytes", noun, (ull)size);
}

/* ---- the memory ---- */

static const char *call_of(cx_emu_memory_kind kind)
{
    static const char *const calls[] = {
        [CX_EMU_MEMORY_DEVICE] = "cuMemAlloc",
        [CX_EMU_MEMORY_ASYNC] = "cuMemAllocAsync",
        [CX_EMU_MEMORY_PINNED] = "cuMemHostAlloc",
        [CX_EMU_MEMORY_MANAGED] = "cuMemAllocManaged",
        [CX_EMU_MEMORY_REGISTERED] = "cuMemHostRegister",
        [CX_EMU_MEMORY_MAPPED] = "cuMemMap",
        [CX_EMU_MEMORY_SHARED] = "another process",
    };

    return calls[kind];
}

static void say_origin(cx_text *to, const cx_emu_allocation *allocation)
{
    cx_text_add(to, " (%s, at %#llx)",
                allocation->of_module ? "variables, or the heap of kernels"
                                      : call_of(allocation->kind),
                (ull)allocation->address);
}

static bool is_inside(uint64_t address, uint64_t begin, uint64_t bytes)
{
    return address - begin < bytes;
}

/* The memory of the kernel's own module: the variable there. */
static void say_variable(cx_text *to, const cx_emu_run *run, const cx_ptx_fault *fault)
{
    const cx_emu_allocation *memory = run->memory;
    size_t offset = fault->address < memory->address ? 0 : fault->address - memory->address;
    const cx_ptx_variable *variable = cx_ptx_variable_near(run->code->ptx, offset);
    char noun[NAME_MAX_SHOWN];

    if (variable == NULL)
        return;
    snprintf(noun, sizeof noun, "the variable '%.80s'", variable->name);
    if (is_inside(offset, variable->offset, variable->bytes) && variable->constant && fault->writes)
        cx_text_add(to, " in %s of %zu bytes, which is constant", noun, variable->bytes);
    else
        say_distance(to, fault, memory->address + variable->offset, variable->bytes, noun);
}

/* An allocation that holds all of the access, but not for this kernel. */
static void say_why_not(cx_text *to, const cx_emu_run *run, const cx_emu_allocation *allocation)
{
    const cx_emu_device *device = run->context->device;
    const cx_emu_use use = {(cx_emu_allocation *)allocation,
                            allocation->address + allocation->bytes};

    cx_text_add(to, " in an allocation of %zu bytes", allocation->bytes);
    say_origin(to, allocation);
    if (allocation->freed)
        cx_text_add(to, ", which was freed");
    else if (!cx_emu_allocation_reachable(allocation, run->context))
        cx_text_add(to, " of device %d, which the context on device %d has no access to",
                    allocation->device->ordinal, device->ordinal);
    else if (!cx_emu_allocation_accessible(use, device, false))
        cx_text_add(to, ", which device %d has no access to", device->ordinal);
    else if (!cx_emu_allocation_accessible(use, device, true))
        cx_text_add(to, ", which device %d can only read", device->ordinal);
}

/* Memory that holds the address, and perhaps not all of the access. Returns as say_memory does. */
static uint64_t say_inside(cx_text *to, const cx_emu_run *run, const cx_ptx_fault *fault,
                           const cx_emu_allocation *memory)
{
    uint64_t last = fault->address + (fault->bytes ? fault->bytes - 1 : 0);

    if (memory == run->memory) {
        say_variable(to, run, fault);
        return 0;
    }
    if (is_inside(last, memory->address, memory->bytes)) {
        say_why_not(to, run, memory);
    } else {
        say_distance(to, fault, memory->address, memory->bytes, "an allocation");
        say_origin(to, memory);
    }
    return memory->address;
}

static uint64_t say_outside(cx_text *to, const cx_emu_run *run, const cx_ptx_fault *fault,
                            const cx_emu_allocation *nearest)
{
    const cx_emu_freed *freed = cx_emu_freed_find(fault->address);

    if (freed != NULL) {
        cx_text_add(to, " in an allocation of %zu bytes (%s, at %#llx), which was freed",
                    freed->bytes, call_of(freed->kind), (ull)freed->address);
        return freed->address;
    }
    if (fault->address < NULL_PAGE) {
        cx_text_add(to, " through a null pointer");
    } else if (nearest == NULL) {
        cx_text_add(to, "; there is no allocation");
    } else if (nearest == run->memory) {
        say_variable(to, run, fault);
    } else {
        say_distance(to, fault, nearest->address, nearest->bytes, "an allocation");
        say_origin(to, nearest);
        return nearest->address;
    }
    return 0;
}

/* Returns the address of the allocation that it names; 0: it names none. */
static uint64_t say_memory(cx_text *to, const cx_emu_run *run, const cx_ptx_fault *fault)
{
    const cx_emu_allocation *nearest;
    uint64_t memory;

    if (fault->space != NULL) {
        say_distance(to, fault, 0, fault->space_bytes, "memory");
        return 0;
    }
    cx_lock_enter(&cx_emu_lock);
    nearest = cx_emu_allocation_nearest(fault->address);
    if (nearest != NULL && is_inside(fault->address, nearest->address, nearest->bytes))
        memory = say_inside(to, run, fault, nearest);
    else
        memory = say_outside(to, run, fault, nearest);
    cx_lock_leave(&cx_emu_lock);
    return memory;
}

uint64_t cx_emu_kernel_fault_describe(const cx_emu_run *run, cx_ptx_outcome outcome,
                                  const cx_ptx_fault *fault, char *text, size_t size)
{
    cx_text to = {text, size, 0};
    uint64_t memory = 0;

    say_place(&to, run, fault);
    if (outcome == CX_PTX_ILLEGAL_ADDRESS || outcome == CX_PTX_MISALIGNED_ADDRESS)
        say_access(&to, run, fault);
    if (outcome == CX_PTX_ILLEGAL_ADDRESS && fault->object == NULL)
        memory = say_memory(&to, run, fault);
    else if (outcome == CX_PTX_MISALIGNED_ADDRESS)
        cx_text_add(&to, ", which is not aligned for it");
    else if (outcome == CX_PTX_ILLEGAL_INSTRUCTION && fault->reason != NULL)
        cx_text_add(&to, ": %s", fault->reason);
    return memory;
}
