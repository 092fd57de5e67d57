/* Each kind of atomic operation on integers, in global memory, by threads that meet at few places.
 */
#include "program.cuh"

enum { THREADS = 2048, KINDS = 9 };

__global__ void work(unsigned *cells)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(cells + 0, thread);
    atomicSub(cells + 1, 3u);
    atomicMin(cells + 2, thread * 7 + 5);
    atomicMax(cells + 3, thread * 7 + 5);
    atomicAnd(cells + 4, ~(1u << thread % 31));
    atomicOr(cells + 5, 1u << thread % 29);
    atomicXor(cells + 6, thread);
    atomicInc(cells + 7, 99);
    atomicDec(cells + 8, 99);
}

/* Each thread takes a ticket; the exchange hands a token from thread to thread. */
__global__ void tickets(unsigned *next, unsigned *taken, unsigned *token, unsigned *seen)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    taken[atomicAdd(next, 1)] = 1;
    seen[atomicExch(token, thread + 1)] = 1;
}

int main()
{
    on_device<unsigned> cells(std::vector<unsigned>{0, 0, ~0u, 0, ~0u, 0, 0, 0, 50});
    work<<<THREADS / 128, 128>>>(cells);
    LAUNCHED();
    std::vector<unsigned> expected{0, 0, ~0u, 0, ~0u, 0, 0, 0, 50};
    for (unsigned thread = 0; thread < THREADS; thread++) {
        expected[0] += thread;
        expected[1] -= 3;
        expected[2] = std::min(expected[2], thread * 7 + 5);
        expected[3] = std::max(expected[3], thread * 7 + 5);
        expected[4] &= ~(1u << thread % 31);
        expected[5] |= 1u << thread % 29;
        expected[6] ^= thread;
        expected[7] = expected[7] >= 99 ? 0 : expected[7] + 1;
        expected[8] = expected[8] == 0 || expected[8] > 99 ? 99 : expected[8] - 1;
    }
    same(cells.read(), expected, "cells");

    on_device<unsigned> next(1), taken(THREADS), token(1), seen(THREADS + 1);
    tickets<<<THREADS / 64, 64>>>(next, taken, token, seen);
    LAUNCHED();
    same(taken.read(), std::vector<unsigned>(THREADS, 1), "tickets");
    std::vector<unsigned> tokens = seen.read();
    tokens[token.read()[0]]++;
    same(tokens, std::vector<unsigned>(THREADS + 1, 1), "tokens");
    return 0;
}
