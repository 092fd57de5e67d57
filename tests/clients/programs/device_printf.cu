/* printf within kernels: the text that reaches the standard output is what the host's printf
 * writes. */
#include "program.cuh"

#include <string>
#include <unistd.h>

__global__ void tell(double number)
{
    printf("block %d of %u: %8.3f|%-6d|%+05d|%c|%s|%%\n", blockIdx.x, gridDim.x, number, 42, 7, 'x',
           "text");
    printf("%lld %llx %#o %e %g %.2s\n", -1234567890123ll, 0xfedcba9876543210ull, 8, number,
           number * 1e10, "word");
}

int main()
{
    const double number = 3.14159;
    char place[] = "/tmp/device_printf.XXXXXX", line[400];
    int file = mkstemp(place), before = dup(STDOUT_FILENO);
    HOLDS(file >= 0 && before >= 0);
    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    tell<<<1, 1>>>(number);
    LAUNCHED();
    MUST(cudaDeviceSynchronize());
    fflush(stdout);
    dup2(before, STDOUT_FILENO);

    std::string found(1000, '\0');
    found.resize((size_t)pread(file, &found[0], found.size(), 0));
    unlink(place);
    snprintf(line, sizeof line,
             "block %d of %u: %8.3f|%-6d|%+05d|%c|%s|%%\n%lld %llx %#o %e %g %.2s\n", 0, 1u, number,
             42, 7, 'x', "text", -1234567890123ll, 0xfedcba9876543210ull, 8, number, number * 1e10,
             "word");
    if (found != line)
        fprintf(stderr, "found:\n%sexpected:\n%s", found.c_str(), line);
    HOLDS(found == line);
    printf("the text is right\n");
    return 0;
}
