/* The longest common subsequence of two texts by words of bits, 64 columns in each, beside the
 * table of the CPU. */
#include "program.cuh"

enum { PAIRS = 64, LENGTH = 60 };

/* Additions carry along a row of the table, whose differences are the bits of a word. */
__global__ void lengths(const char *a, const char *b, int *results)
{
    int pair = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long places[4] = {}, row = ~0ull;
    for (int i = 0; i < LENGTH; i++)
        places[a[pair * LENGTH + i] - 'a'] |= 1ull << i;
    for (int i = 0; i < LENGTH; i++) {
        unsigned long long match = row & places[b[pair * LENGTH + i] - 'a'];
        row = (row + match) | (row - match);
    }
    results[pair] = __popcll(~row & ((1ull << LENGTH) - 1));
}

static int length_of(const char *a, const char *b)
{
    int row[LENGTH + 1] = {};
    for (int i = 0; i < LENGTH; i++)
        for (int j = 1, diagonal = 0; j <= LENGTH; j++) {
            int up = row[j];
            row[j] = a[i] == b[j - 1] ? diagonal + 1 : std::max(up, row[j - 1]);
            diagonal = up;
        }
    return row[LENGTH];
}

int main()
{
    random_numbers random(35);
    std::vector<char> a(PAIRS * LENGTH), b(PAIRS * LENGTH);
    std::vector<int> expected(PAIRS);
    for (int i = 0; i < PAIRS * LENGTH; i++) {
        a[i] = (char)('a' + random.below(4));
        b[i] = (char)('a' + random.below(2 + i / LENGTH % 3));
    }
    for (int i = 0; i < PAIRS; i++)
        expected[i] = length_of(&a[i * LENGTH], &b[i * LENGTH]);
    on_device<char> first(a), second(b);
    on_device<int> results(PAIRS);
    lengths<<<2, PAIRS / 2>>>(first, second, results);
    LAUNCHED();
    same(results.read(), expected, "lengths");
    return 0;
}
