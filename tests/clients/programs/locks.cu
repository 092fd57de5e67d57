/* Locks between threads: a spin lock of a block for a list, and one for each account of a bank. */
#include "program.cuh"

enum { ACCOUNTS = 16, THREADS = 256 };

__device__ void lock(int *word)
{
    while (atomicCAS(word, 0, 1) != 0)
        __nanosleep(20);
    __threadfence();
}

__device__ void unlock(int *word)
{
    __threadfence();
    atomicExch(word, 0);
}

/* The account with the lower number is locked first, so that no two threads wait for each other. */
__global__ void transfer(int *locks, volatile int *accounts, const int *from, const int *to,
                         const int *amounts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, a = min(from[i], to[i]), b = max(from[i], to[i]);
    if (a == b)
        return;
    lock(locks + a);
    lock(locks + b);
    accounts[from[i]] -= amounts[i];
    accounts[to[i]] += amounts[i];
    unlock(locks + b);
    unlock(locks + a);
}

__global__ void append(int *mutex, volatile int *length, volatile int *list)
{
    if (threadIdx.x == 0) {
        lock(mutex);
        int place = *length;
        list[place] = (int)blockIdx.x;
        *length = place + 1;
        unlock(mutex);
    }
}

int main()
{
    random_numbers random(78);
    std::vector<int> accounts(ACCOUNTS, 1000), from = random.ints(THREADS, ACCOUNTS),
                                               to = random.ints(THREADS, ACCOUNTS),
                                               amounts = random.ints(THREADS, 50);
    on_device<int> locks(ACCOUNTS), there(accounts), a(from), b(to), c(amounts);
    transfer<<<4, THREADS / 4>>>(locks, there, a, b, c);
    LAUNCHED();
    for (int i = 0; i < THREADS; i++) {
        accounts[from[i]] -= amounts[i];
        accounts[to[i]] += amounts[i];
    }
    same(there.read(), accounts, "accounts");
    on_device<int> mutex(1), length(1), list(64);
    append<<<64, 32>>>(mutex, length, list);
    LAUNCHED();
    std::vector<int> found = list.read(), seen(64);
    for (int block : found)
        seen[block]++;
    same(seen, std::vector<int>(64, 1), "blocks of the list");
    same(length.read(), {64}, "length");
    return 0;
}
