/* CRC-32 of pieces by a table in shared memory, and of the whole from those of the pieces by
 * matrices of bits. */
#include "program.cuh"

enum { PIECES = 64, LENGTH = 200 };
const uint32_t POLYNOMIAL = 0xedb88320;

__host__ __device__ uint32_t shifted(uint32_t crc)
{
    for (int bit = 0; bit < 8; bit++)
        crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
    return crc;
}

__global__ void check_pieces(const unsigned char *bytes, uint32_t *sums)
{
    __shared__ uint32_t table[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        table[i] = shifted((uint32_t)i);
    __syncthreads();
    int piece = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t crc = 0;
    for (int i = 0; i < LENGTH; i++)
        crc = table[(crc ^ bytes[piece * LENGTH + i]) & 255] ^ crc >> 8;
    sums[piece] = crc;
}

/* The CRC of a piece moves on by the bytes that follow it; those of all pieces are added without
 * carry. */
__global__ void combine(const uint32_t *sums, uint32_t start, uint32_t *whole)
{
    uint32_t crc = sums[threadIdx.x], mine = threadIdx.x == 0 ? start : 0;
    for (int i = (threadIdx.x + 1) * LENGTH; i < PIECES * LENGTH; i++)
        crc = shifted(crc);
    for (int i = 0; i < PIECES * LENGTH && mine != 0; i++)
        mine = shifted(mine);
    atomicXor(whole, crc ^ mine);
}

int main()
{
    std::vector<unsigned char> bytes(PIECES * LENGTH);
    random_numbers random(37);
    for (unsigned char &byte : bytes)
        byte = (unsigned char)random.next();
    uint32_t crc = ~0u, known = ~0u;
    for (unsigned char byte : bytes)
        crc = shifted(crc ^ byte);
    for (const char *digit = "123456789"; *digit; digit++)
        known = shifted(known ^ (unsigned char)*digit);
    HOLDS(~known == 0xcbf43926);
    on_device<unsigned char> there(bytes);
    on_device<uint32_t> sums(PIECES), whole(1);
    check_pieces<<<2, PIECES / 2>>>(there, sums);
    LAUNCHED();
    combine<<<1, PIECES>>>(sums, ~0u, whole);
    LAUNCHED();
    same(whole.read(), {crc}, "CRC");
    return 0;
}
