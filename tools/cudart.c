#include "cudart.h"

#include "place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct version {
    int major;
    const char *soname;
} versions[CUDART_MAJORS] = {
    {13, "libcudart.so.13"}, {12, "libcudart.so.12"}, {11, "libcudart.so.11.0"}};

static bool find_folder(const struct version *self, char folder[PATH_MAX])
{
    char in_build[64], in_library[32], file[32];
    snprintf(in_build, sizeof in_build, "/lib/runtime/cudart-%d/.libs", self->major);
    snprintf(in_library, sizeof in_library, "/cudart-%d", self->major);
    snprintf(file, sizeof file, "/%s", self->soname);
    return place_find(in_build, CTXRT_PKGLIBDIR, in_library, file, folder);
}

bool cudart_find(char folders[CUDART_PATHS])
{
    size_t length = 0;
    for (size_t i = 0; i < CUDART_MAJORS; i++) {
        char folder[PATH_MAX];
        if (!find_folder(&versions[i], folder))
            return false;
        length += (size_t)snprintf(folders + length, CUDART_PATHS - length, "%s%s",
                                   i == 0 ? "" : ":", folder);
    }
    return true;
}

bool cudart_find_version(int major, char file[CUDART_PATH])
{
    char folder[PATH_MAX];
    const struct version *version = versions;
    while (version < versions + CUDART_MAJORS && version->major != major)
        version++;
    if (version == versions + CUDART_MAJORS || !find_folder(version, folder))
        return false;
    snprintf(file, CUDART_PATH, "%s/%s", folder, version->soname);
    return true;
}

int cudart_major(const binary *program)
{
    for (size_t i = 0; i < CUDART_MAJORS; i++)
        if (strcmp(program->runtime, versions[i].soname) == 0)
            return versions[i].major;
    return 0;
}

/* $ORIGIN is not looked up. */
bool cudart_is_hidden(const binary *program)
{
    char file[PATH_MAX];
    return program->runtime[0] != '\0' &&
           place_find_in_list(program->rpath, program->runtime, R_OK, file);
}

void cudart_warn(const char *command, const binary *program, bool plays)
{
    /* nvcc's host code calls a runtime; one that the program does not need is inside it. */
    if (program->has_device_code && program->runtime[0] == '\0')
        fprintf(stderr,
                "%s: %s has NVIDIA's CUDA Runtime linked in, which accepts NVIDIA's driver alone: "
                "build it with `ctxrt nvcc', or with nvcc -cudart shared\n",
                command, program->path);
    else if (program->runtime[0] != '\0' && cudart_major(program) == 0)
        fprintf(stderr,
                "%s: %s needs %s: ctxrt has libcudart.so.11.0, .12 and .13: build it with a newer "
                "toolkit\n",
                command, program->path, program->runtime);
    if (program->closed[0] != '\0')
        fprintf(
            stderr,
            "%s: %s needs %s, which brings machine code and a CUDA Runtime of its own: its calls "
            "fail here\n",
            command, program->path, program->closed);
    if (plays && program->has_machine_code && !program->has_ptx)
        fprintf(
            stderr,
            "%s: %s has machine code without PTX, which emulated GPUs cannot run: build it with "
            "`ctxrt nvcc', or with -gencode arch=compute_75,code=compute_75\n",
            command, program->path);
}
