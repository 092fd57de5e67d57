/* SPDX-License-Identifier: MIT */
/*
 * Lesson 9: runs a kernel of kernel.cu, CUDA C that the library NVRTC compiles while the program
 * runs. Without NVRTC it loads kernel.ptx, which was compiled before.
 *
 *     kernel FOLDER square|endless     (FOLDER has kernel.cu and kernel.ptx)
 *
 * The variable NVRTC names a library that is not where the system looks for it.
 */
#include "lesson.h"

#include <dlfcn.h>

enum { COUNT = 3, THREADS = 4 };

/* The part of nvrtc.h that is used here. */
typedef struct nvrtc_program *nvrtc_program;
static struct {
    int (*create)(nvrtc_program *, const char *source, const char *name, int, const char *const *,
                  const char *const *);
    int (*compile)(nvrtc_program, int count, const char *const *options);
    int (*log_size)(nvrtc_program, size_t *bytes);
    int (*log)(nvrtc_program, char *text);
    int (*ptx_size)(nvrtc_program, size_t *bytes);
    int (*ptx)(nvrtc_program, char *text);
} nvrtc;

static char *read_file(const char *folder, const char *name)
{
    char path[4096], *text = calloc(1, 65536);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (file == NULL || text == NULL || fread(text, 1, 65535, file) == 0) {
        perror(path);
        exit(2);
    }
    fclose(file);
    return text;
}

/* False: NVRTC is not installed. */
static int find_nvrtc(void)
{
    const char *names[] = {getenv("NVRTC"), "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"};
    void *library = NULL;
    for (int i = 0; i < 4 && library == NULL && (i == 0 || names[0] == NULL); i++)
        library = names[i] != NULL ? dlopen(names[i], RTLD_NOW) : NULL;
    if (library == NULL)
        return 0;
    *(void **)&nvrtc.create = dlsym(library, "nvrtcCreateProgram");
    *(void **)&nvrtc.compile = dlsym(library, "nvrtcCompileProgram");
    *(void **)&nvrtc.log_size = dlsym(library, "nvrtcGetProgramLogSize");
    *(void **)&nvrtc.log = dlsym(library, "nvrtcGetProgramLog");
    *(void **)&nvrtc.ptx_size = dlsym(library, "nvrtcGetPTXSize");
    *(void **)&nvrtc.ptx = dlsym(library, "nvrtcGetPTX");
    return nvrtc.create && nvrtc.compile && nvrtc.log_size && nvrtc.log && nvrtc.ptx_size &&
           nvrtc.ptx;
}

/* The PTX of CUDA C; what the compiler does not like goes to the standard error. */
static char *compile(const char *source)
{
    nvrtc_program program;
    size_t bytes = 0;
    int failed = nvrtc.create(&program, source, "kernel.cu", 0, NULL, NULL) != 0 ||
                 nvrtc.compile(program, 0, NULL) != 0;
    if ((failed ? nvrtc.log_size : nvrtc.ptx_size)(program, &bytes) != 0)
        exit(2);
    char *text = calloc(1, bytes + 1);
    if (text == NULL || (failed ? nvrtc.log : nvrtc.ptx)(program, text) != 0)
        exit(2);
    if (!failed)
        return text;
    fprintf(stderr, "%s", text);
    exit(2);
}

int main(int argc, char **argv)
{
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr numbers;
    int count = COUNT, found = find_nvrtc();

    if (argc != 3) {
        fprintf(stderr, "usage: kernel FOLDER square|endless\n");
        return 2;
    }
    if (!found)
        fprintf(stderr, "SKIP: NVRTC is not installed; kernel.ptx runs, not kernel.cu\n");
    char *text = read_file(argv[1], found ? "kernel.cu" : "kernel.ptx");
    char *ptx = found ? compile(text) : text;

    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuModuleLoadData(&module, ptx));
    MUST(cuModuleGetFunction(&kernel, module, argv[2]));
    MUST(cuMemAlloc(&numbers, COUNT * sizeof(int)));
    MUST(cuLaunchKernel(kernel, 1, 1, 1, THREADS, 1, 1, 0, NULL, (void *[]){&numbers, &count},
                        NULL));
    CUresult result = cuCtxSynchronize();
    printf("waiting for the kernel gives %s\n", name_of(result));
    if (result == CUDA_SUCCESS) {
        MUST(cuMemFree(numbers));
        MUST(cuModuleUnload(module));
    }
    MUST(cuCtxDestroy(context));
    return 0;
}
