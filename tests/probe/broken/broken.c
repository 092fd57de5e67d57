/* A driver whose cuInit ends badly, as BROKEN says; it exports nothing else but the version. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cuInit(unsigned int flags);
int cuDriverGetVersion(int *version);

int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return 0;
}

int cuInit(unsigned int flags)
{
    const char *broken = getenv("BROKEN");
    (void)flags;
    if (broken == NULL)
        return 100;
    if (strcmp(broken, "crash") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(broken, "deaf") == 0)
        signal(SIGALRM, SIG_IGN);
    if (strcmp(broken, "hang") == 0 || strcmp(broken, "deaf") == 0)
        for (;;)
            pause();
    if (strcmp(broken, "exit") == 0)
        _exit(7);
    return 0;
}
