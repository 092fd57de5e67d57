/* What a process has open and mapped, so that a test sees what a call leaves. */
#ifndef CX_TEST_FOOTPRINT_H
#define CX_TEST_FOOTPRINT_H

#include <dirent.h>
#include <stdio.h>

typedef struct footprint {
    int files;    /* descriptors */
    int mappings; /* of files; those without one come and go with the heap */
} footprint;

static inline footprint footprint_now(void)
{
    footprint found = {0, 0};
    DIR *folder = opendir("/proc/self/fd");
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    unsigned long number;

    while (folder && readdir(folder))
        found.files++;
    while (maps && fgets(line, sizeof line, maps))
        found.mappings += sscanf(line, "%*s %*s %*s %*s %lu", &number) == 1 && number != 0;
    if (maps)
        fclose(maps);
    if (folder)
        closedir(folder);
    return found;
}

#endif
