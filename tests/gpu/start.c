/*
 * The start of programs that are to run on an older C library than this machine's; see old_libc.sh.
 *
 * From glibc 2.34 on the start file passes no `init`, and the C library itself runs the program's
 * constructors. Older ones do not; each version calls an `init` that is passed.
 */
#include <stddef.h>

typedef int main_function(int, char **, char **);
typedef void init_function(int, char **, char **);
typedef void plain_function(void);
extern init_function *__init_array_start[] __attribute__((visibility("hidden")));
extern init_function *__init_array_end[] __attribute__((visibility("hidden")));
extern plain_function _init;
int __real___libc_start_main(main_function *, int, char **, init_function *, plain_function *,
                             plain_function *, void *);
int __wrap___libc_start_main(main_function *, int, char **, init_function *, plain_function *,
                             plain_function *, void *);

static void run_constructors(int count, char **arguments, char **environment)
{
    _init();
    for (init_function **one = __init_array_start; one < __init_array_end; one++)
        (*one)(count, arguments, environment);
}

static void end_nothing(void)
{
}

int __wrap___libc_start_main(main_function *start, int count, char **arguments, init_function *init,
                             plain_function *end, plain_function *loader_end, void *stack_end)
{
    return __real___libc_start_main(start, count, arguments, init != NULL ? init : run_constructors,
                                    end != NULL ? end : end_nothing, loader_end, stack_end);
}
