/* Run-length encoding: flags at the start of each run, their prefix sums as places, and the text
 * made again. */
#include "program.cuh"

enum { LENGTH = 1024 };

__global__ void encode(const char *text, char *letters, int *starts, int *runs)
{
    __shared__ int sums[2][LENGTH];
    int i = threadIdx.x, from = 0;
    bool first = i == 0 || text[i] != text[i - 1];
    sums[0][i] = first;
    for (int distance = 1; distance < LENGTH; distance *= 2, from = 1 - from) {
        __syncthreads();
        sums[1 - from][i] = sums[from][i] + (i >= distance ? sums[from][i - distance] : 0);
    }
    int place = sums[from][i] - 1;
    if (first) {
        letters[place] = text[i];
        starts[place] = i;
    }
    if (i == LENGTH - 1) {
        starts[place + 1] = LENGTH;
        *runs = place + 1;
    }
}

__global__ void decode(const char *letters, const int *starts, char *text)
{
    for (int i = starts[blockIdx.x] + threadIdx.x; i < starts[blockIdx.x + 1]; i += blockDim.x)
        text[i] = letters[blockIdx.x];
}

int main()
{
    random_numbers random(39);
    std::vector<char> text(LENGTH), letters(LENGTH);
    std::vector<int> starts(LENGTH + 1);
    int runs = 0;
    for (int i = 0; i < LENGTH; i++) {
        text[i] = i > 0 && random.below(6) > 0 ? text[i - 1] : (char)('a' + random.below(26));
        if (i == 0 || text[i] != text[i - 1]) {
            letters[runs] = text[i];
            starts[runs++] = i;
        }
    }
    starts[runs] = LENGTH;
    on_device<char> there(text), found_letters(LENGTH), again(LENGTH);
    on_device<int> found_starts(LENGTH + 1), found_runs(1);
    encode<<<1, LENGTH>>>(there, found_letters, found_starts, found_runs);
    LAUNCHED();
    same(found_runs.read(), {runs}, "runs");
    same(found_letters.read(), letters, "letters");
    same(found_starts.read(), starts, "starts");
    decode<<<runs, 32>>>(found_letters, found_starts, again);
    LAUNCHED();
    same(again.read(), text, "text");
    return 0;
}
