#include "base/log.h"
#include "emu/base/state.h"
#include "layer/count/count.h"
#include "shim/passthrough.h"
#include "shim/shim.h"

/* No row of ours has these symbols, so their arguments are unknown, and not looked at. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static cxu_result refuse_call(atomic_flag *said, const char *symbol)
{
    bool again = atomic_flag_test_and_set(said);
    if (cx_shim_is_in_front())
        return again ? CXU_NOT_SUPPORTED : cx_passthrough_absent(symbol);
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS) {
        atomic_flag_clear(said);
        return result;
    }
    cx_count_unserved(symbol);
    if (!again)
        cx_log(CTXRT_LOG_WARNING, "%s is not supported by the stand-in driver", symbol);
    return CXU_NOT_SUPPORTED;
}

#define CX_UNSERVED(symbol)                         \
    static cxu_result refuse_##symbol(void)         \
    {                                               \
        static atomic_flag said = ATOMIC_FLAG_INIT; \
        return refuse_call(&said, #symbol);         \
    }
#include "lib/shim/unserved.def"
#undef CX_UNSERVED

#if defined(__x86_64__)
/*
 * Each export jumps through its slot, so that whatever arguments it has reach the library behind.
 * At first a slot leads to cx_shim_first_<symbol>, which has all slots filled and jumps again.
 */
#define CX_UNSERVED(symbol)                                                              \
    void cx_shim_first_##symbol(void);                                                   \
    void (*cx_shim_slot_##symbol)(void) = cx_shim_first_##symbol;                        \
    __asm__(".pushsection .text\n"                                                       \
            "cx_shim_first_" #symbol ":\nlea cx_shim_slot_" #symbol "(%rip), %r11\n"     \
            "jmp cx_shim_first_call\n.popsection");                                      \
    CX_SHIM_EXPORT(symbol, *cx_shim_slot_##symbol(%rip))
#include "lib/shim/unserved.def"
#undef CX_UNSERVED

/* Keeps all registers that may carry arguments; %r11 has the slot's address. */
__asm__(".pushsection .text\n"
        ".type cx_shim_first_call, @function\ncx_shim_first_call:\n.cfi_startproc\n"
        "push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbp, -16\n"
        "mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"
        "push %r11\npush %rax\npush %rdi\npush %rsi\npush %rdx\n"
        "push %rcx\npush %r8\npush %r9\npush %r10\nsub $136, %rsp\n"
        "movups %xmm0, (%rsp)\nmovups %xmm1, 16(%rsp)\n"
        "movups %xmm2, 32(%rsp)\nmovups %xmm3, 48(%rsp)\n"
        "movups %xmm4, 64(%rsp)\nmovups %xmm5, 80(%rsp)\n"
        "movups %xmm6, 96(%rsp)\nmovups %xmm7, 112(%rsp)\n"
        "call cx_shim_driver\n"
        "movups (%rsp), %xmm0\nmovups 16(%rsp), %xmm1\n"
        "movups 32(%rsp), %xmm2\nmovups 48(%rsp), %xmm3\n"
        "movups 64(%rsp), %xmm4\nmovups 80(%rsp), %xmm5\n"
        "movups 96(%rsp), %xmm6\nmovups 112(%rsp), %xmm7\n"
        "add $136, %rsp\npop %r10\npop %r9\npop %r8\npop %rcx\n"
        "pop %rdx\npop %rsi\npop %rdi\npop %rax\npop %r11\n"
        "pop %rbp\n.cfi_def_cfa %rsp, 8\n.cfi_restore %rbp\n"
        "jmp *(%r11)\n.cfi_endproc\n"
        ".size cx_shim_first_call, . - cx_shim_first_call\n.popsection");

typedef struct slot_row {
    const char *symbol;
    void (**slot)(void);
    cxu_result (*refuse)(void);
} slot_row;

static const slot_row rows[] = {
#define CX_UNSERVED(symbol) {#symbol, &cx_shim_slot_##symbol, refuse_##symbol},
#include "lib/shim/unserved.def"
#undef CX_UNSERVED
};

void cx_shim_fill_slots(cx_shim_find_symbol *find)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        void *function = find(rows[i].symbol);
        if (function == NULL)
            function = *(void *const *)&rows[i].refuse;
        __atomic_store_n((void **)rows[i].slot, function, __ATOMIC_RELEASE);
    }
}
#else
/* Only assembly passes on arguments that it does not know. */
#define CX_UNSERVED(symbol) CX_SHIM_EXPORT(symbol, refuse_##symbol)
#include "lib/shim/unserved.def"
#undef CX_UNSERVED

void cx_shim_fill_slots(cx_shim_find_symbol *find)
{
    (void)find;
}
#endif
