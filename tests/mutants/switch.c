#include "switch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define MUTANTS_MOST 65536

static unsigned char nowhere[MUTANTS_MOST];

int cx_mutant_chosen = -1;
unsigned char *cx_mutant_reached = nowhere;

/* A file that is mapped is shared with the processes that the player forks, and outlives one that
 * is killed. */
__attribute__((constructor(101))) static void choose(void)
{
    const char *chosen = getenv("CTXRT_MUTANT"), *reached = getenv("CTXRT_MUTANT_REACHED");
    if (chosen)
        cx_mutant_chosen = atoi(chosen);
    if (!reached)
        return;
    int file = open(reached, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    void *mapped = MAP_FAILED;
    if (file >= 0 && ftruncate(file, MUTANTS_MOST) == 0)
        mapped = mmap(NULL, MUTANTS_MOST, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
        _exit(99);
    cx_mutant_reached = mapped;
    close(file);
}
