/* The alignment of two sequences, a wave of tiles after the other along the diagonals of its table.
 */
#include "program.cuh"

enum { LENGTH = 96, TILE = 16, SIDE = LENGTH + 1, GAP = 3 };

__host__ __device__ int score(char a, char b, int diagonal, int up, int left)
{
    int best = diagonal + (a == b ? 5 : -4);
    best = best > up - GAP ? best : up - GAP;
    return best > left - GAP ? best : left - GAP;
}

__global__ void wave(const char *a, const char *b, int *table, int diagonal, int first)
{
    int left = (first + blockIdx.x) * TILE + 1,
        top = (diagonal - first - (int)blockIdx.x) * TILE + 1;
    int x = left + threadIdx.x;
    for (int step = 0; step < 2 * TILE - 1; step++) {
        int y = top + step - (int)threadIdx.x;
        if (y >= top && y < top + TILE)
            table[y * SIDE + x] = score(a[x - 1], b[y - 1], table[(y - 1) * SIDE + x - 1],
                                        table[(y - 1) * SIDE + x], table[y * SIDE + x - 1]);
        __syncthreads();
    }
}

int main()
{
    random_numbers random(33);
    std::vector<char> a(LENGTH), b(LENGTH);
    for (int i = 0; i < LENGTH; i++) {
        a[i] = "ACGT"[random.below(4)];
        b[i] = random.below(5) == 0 ? "ACGT"[random.below(4)] : a[i];
    }
    std::vector<int> table(SIDE * SIDE);
    for (int i = 0; i < SIDE; i++)
        table[i] = table[i * SIDE] = -GAP * i;
    on_device<char> first(a), second(b);
    on_device<int> there(table);
    const int tiles = LENGTH / TILE;
    for (int diagonal = 0; diagonal < 2 * tiles - 1; diagonal++) {
        int from = std::max(0, diagonal - tiles + 1), to = std::min(diagonal, tiles - 1);
        wave<<<to - from + 1, TILE>>>(first, second, there, diagonal, from);
        LAUNCHED();
    }
    for (int y = 1; y < SIDE; y++)
        for (int x = 1; x < SIDE; x++)
            table[y * SIDE + x] = score(a[x - 1], b[y - 1], table[(y - 1) * SIDE + x - 1],
                                        table[(y - 1) * SIDE + x], table[y * SIDE + x - 1]);
    same(there.read(), table, "scores");
    return 0;
}
