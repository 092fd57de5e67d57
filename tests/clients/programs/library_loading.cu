/* Kernels from a library that the program holds as text: loaded, found by name, asked for its
 * variable, and unloaded. */
#include "program.cuh"

#include <cstring>

static const char text[] = ".version 7.0\n"
                           ".target sm_75\n"
                           ".address_size 64\n"
                           ".visible .global .align 4 .u32 offset = 7;\n"
                           ".visible .entry shift(.param .u64 values)\n"
                           "{\n"
                           "    .reg .b64 %address, %step;\n"
                           "    .reg .b32 %thread, %value, %by;\n"
                           "    ld.param.u64 %address, [values];\n"
                           "    mov.u32 %thread, %tid.x;\n"
                           "    mul.wide.u32 %step, %thread, 4;\n"
                           "    add.u64 %address, %address, %step;\n"
                           "    ld.global.u32 %value, [%address];\n"
                           "    ld.global.u32 %by, [offset];\n"
                           "    add.u32 %value, %value, %by;\n"
                           "    st.global.u32 [%address], %value;\n"
                           "    ret;\n"
                           "}\n";

int main()
{
    cudaLibrary_t library;
    cudaKernel_t kernel;
    void *offset;
    size_t bytes;
    MUST(cudaLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    MUST(cudaLibraryGetKernel(&kernel, library, "shift"));
    HOLDS(cudaLibraryGetKernel(&kernel, library, "absent") != cudaSuccess);
    (void)cudaGetLastError();
    MUST(cudaLibraryGetKernel(&kernel, library, "shift"));
    MUST(cudaLibraryGetGlobal(&offset, &bytes, library, "offset"));
    HOLDS(bytes == sizeof(int));
    std::vector<int> values = random_numbers(88).ints(128, 1000);
    on_device<int> there(values);
    int *pointer = there, more = 100;
    void *arguments[] = {&pointer};
    MUST(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(128), arguments, 0, 0));
    MUST(cudaMemcpy(offset, &more, sizeof more, cudaMemcpyHostToDevice));
    MUST(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(128), arguments, 0, 0));
    for (int &value : values)
        value += 107;
    same(there.read(), values, "values");
    MUST(cudaLibraryUnload(library));
    return 0;
}
