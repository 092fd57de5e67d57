#include "run.h"

#include <string.h>

enum { COUNT = 2003 };

static unsigned char *make_bytes(void)
{
    unsigned char *bytes = make_memory(COUNT);

    for (int i = 0; i < COUNT; i++)
        bytes[i] = (unsigned char)(below(16) * below(17));
    return bytes;
}

static void check_bins(const char *name, kernel_shape shape, int bin_count, int shift, int mask)
{
    unsigned char *in = make_bytes();
    uint32_t *bins = make_memory((size_t)bin_count * 4), expected[256] = {0};
    int n = COUNT;

    LAUNCH(name, shape, VALUE(in), VALUE(bins), VALUE(n));
    for (int i = 0; i < n; i++)
        expected[in[i] >> shift & mask]++;
    for (int i = 0; i < bin_count; i++)
        SAME((size_t)i, bins[i], expected[i]);
}

static void check_count_globally(void)
{
    check_bins("count_globally", line_over(300, 60), 256, 0, 255);
}

static void check_count_in_blocks(void)
{
    check_bins("count_in_blocks", line_over(300, 100), 256, 0, 255);
}

static void check_count_privately(void)
{
    check_bins("count_privately", line_over(1, 77), 16, 0, 15);
}

static void check_count_by_match(void)
{
    check_bins("count_by_match", line_over(COUNT, 80), 16, 4, 15);
}

static void check_find_quantiles(void)
{
    enum { RANKS = 61 };
    unsigned char *in = make_bytes();
    uint32_t *bins = make_memory(256 * 4), *ranks = make_memory(RANKS * 4);
    int32_t *quantiles = make_memory(RANKS * 4), n = RANKS;

    for (int i = 0; i < COUNT; i++)
        bins[in[i]]++;
    for (uint32_t i = 0; i < RANKS; i++)
        ranks[i] = i * 33;
    LAUNCH("find_quantiles", line_over(1, 40), VALUE(bins), VALUE(ranks), VALUE(quantiles),
           VALUE(n));
    for (uint32_t i = 0; i < RANKS; i++) {
        uint32_t sum = 0, bin = 0;

        while (sum + bins[bin] <= ranks[i])
            sum += bins[bin++];
        SAME(i, quantiles[i], bin);
    }
}

static const kernel_case cases[] = {
    {"count_globally", check_count_globally},   {"count_in_blocks", check_count_in_blocks},
    {"count_privately", check_count_privately}, {"count_by_match", check_count_by_match},
    {"find_quantiles", check_find_quantiles},
};
KERNEL_GROUP(histogram, cases);
