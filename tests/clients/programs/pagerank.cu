/* Ranks of pages by their links, until the ranks stand still: atomic additions of doubles, and the
 * norm of a change. */
#include "program.cuh"

enum { PAGES = 500, LINKS = 8 };

__global__ void spread(const int *links, const double *ranks, double *next)
{
    int page = blockIdx.x * blockDim.x + threadIdx.x;
    if (page < PAGES)
        for (int i = 0; i < LINKS; i++)
            atomicAdd(next + links[page * LINKS + i], 0.85 * ranks[page] / LINKS);
}

__global__ void settle(double *ranks, double *next, double *change)
{
    int page = blockIdx.x * blockDim.x + threadIdx.x;
    if (page >= PAGES)
        return;
    double rank = next[page] + 0.15 / PAGES;
    atomicAdd(change, fabs(rank - ranks[page]));
    ranks[page] = rank;
    next[page] = 0;
}

int main()
{
    random_numbers random(21);
    std::vector<int> links(PAGES * LINKS);
    for (int &link : links)
        link = (int)(random.below(PAGES) * random.below(PAGES) / PAGES);
    std::vector<double> expected(PAGES, 1.0 / PAGES);
    for (int round = 0; round < 100; round++) {
        std::vector<double> next(PAGES, 0.15 / PAGES);
        for (int i = 0; i < PAGES * LINKS; i++)
            next[links[i]] += 0.85 * expected[i / LINKS] / LINKS;
        expected.swap(next);
    }
    on_device<int> there(links);
    on_device<double> ranks(std::vector<double>(PAGES, 1.0 / PAGES)), next(PAGES), change(1);
    int rounds = 0;
    do {
        change.write({0});
        spread<<<blocks_for(PAGES, 128), 128>>>(there, ranks, next);
        LAUNCHED();
        settle<<<blocks_for(PAGES, 128), 128>>>(ranks, next, change);
        LAUNCHED();
        HOLDS(++rounds < 200);
    } while (change.read()[0] > 1e-12);
    std::vector<double> found = ranks.read();
    for (int i = 0; i < PAGES; i++) {
        found[i] *= PAGES;
        expected[i] *= PAGES;
    }
    near(found, expected, 1e-6, "ranks");
    return 0;
}
