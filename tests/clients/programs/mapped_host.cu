/* Memory of the host that kernels read and write in place: mapped, and registered after it was
 * allocated. */
#include "program.cuh"

__global__ void multiply(const double *from, double *to, double by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i] * by;
}

int main()
{
    const int count = 2048;
    double *mapped, *seen, *there;
    MUST(cudaHostAlloc(&mapped, count * sizeof *mapped,
                       cudaHostAllocMapped | cudaHostAllocWriteCombined));
    MUST(cudaHostGetDevicePointer(&seen, mapped, 0));
    std::vector<double> registered(count), expected(count);
    MUST(cudaHostRegister(registered.data(), count * sizeof(double), cudaHostRegisterMapped));
    MUST(cudaHostGetDevicePointer(&there, registered.data(), 0));
    unsigned flags;
    MUST(cudaHostGetFlags(&flags, mapped));
    HOLDS((flags & cudaHostAllocMapped) && (flags & cudaHostAllocWriteCombined));
    random_numbers random(61);
    for (int i = 0; i < count; i++) {
        mapped[i] = random.uniform();
        expected[i] = mapped[i] * 2.5;
    }
    multiply<<<count / 256, 256>>>(seen, there, 2.5);
    LAUNCHED();
    MUST(cudaDeviceSynchronize());
    same(registered, expected, "products");

    cudaPointerAttributes of;
    MUST(cudaPointerGetAttributes(&of, mapped + 5));
    HOLDS(of.type == cudaMemoryTypeHost && of.devicePointer == seen + 5 &&
          of.hostPointer == mapped + 5);
    MUST(cudaHostUnregister(registered.data()));
    MUST(cudaFreeHost(mapped));
    return 0;
}
