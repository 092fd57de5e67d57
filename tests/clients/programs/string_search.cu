/* Searches a text for several words, by rolling hashes in constant memory and a comparison where
 * one agrees. */
#include "program.cuh"

#include <cstring>
#include <string>

enum { WORDS = 3, LENGTH = 5 };
const uint32_t BASE = 257;

__constant__ char words[WORDS][LENGTH + 1];
__constant__ uint32_t hashes[WORDS];

__host__ __device__ uint32_t hash(const char *text)
{
    uint32_t value = 0;
    for (int i = 0; i < LENGTH; i++)
        value = value * BASE + (unsigned char)text[i];
    return value;
}

__device__ bool equal(const char *a, const char *b)
{
    for (int i = 0; i < LENGTH; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

/* Each thread goes over a stretch of the text, and takes the hash along. */
__global__ void search(const char *text, int last, int stretch, int *counts, int *firsts)
{
    int start = (blockIdx.x * blockDim.x + threadIdx.x) * stretch, end = min(start + stretch, last);
    if (start >= end)
        return;
    uint32_t value = hash(text + start), top = BASE * BASE * BASE * BASE;
    for (int i = start; i < end; i++) {
        for (int word = 0; word < WORDS; word++)
            if (value == hashes[word] && equal(text + i, words[word])) {
                atomicAdd(counts + word, 1);
                atomicMin(firsts + word, i);
            }
        value = (value - (unsigned char)text[i] * top) * BASE +
                (i + 1 < end ? (unsigned char)text[i + LENGTH] : 0);
    }
}

int main()
{
    const char sought[WORDS][LENGTH + 1] = {"abcab", "aaaaa", "cabba"};
    uint32_t values[WORDS];
    random_numbers random(41);
    std::string text;
    for (int i = 0; i < 20000; i++)
        text += (char)('a' + random.below(3));
    std::vector<int> counts(WORDS), firsts(WORDS, (int)text.size());
    for (int word = 0; word < WORDS; word++) {
        values[word] = hash(sought[word]);
        for (size_t at = text.find(sought[word]); at != std::string::npos;
             at = text.find(sought[word], at + 1))
            if (counts[word]++ == 0)
                firsts[word] = (int)at;
    }
    MUST(cudaMemcpyToSymbol(words, sought, sizeof words));
    MUST(cudaMemcpyToSymbol(hashes, values, sizeof hashes));
    on_device<char> there(std::vector<char>(text.begin(), text.end()));
    on_device<int> found(WORDS), places(std::vector<int>(WORDS, (int)text.size()));
    search<<<4, 128>>>(there, (int)text.size() - LENGTH + 1, 50, found, places);
    LAUNCHED();
    same(found.read(), counts, "counts");
    same(places.read(), firsts, "first places");
    return 0;
}
