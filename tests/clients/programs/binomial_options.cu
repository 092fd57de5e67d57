/* American put options by a binomial tree: a block for each option, which goes back through the
 * tree's levels. */
#include "program.cuh"

enum { STEPS = 63, OPTIONS = 24 };

struct option {
    double stock, strike, up, discount, chance;
};

__host__ __device__ double exercise(const option &o, int step, int ups)
{
    double gain = o.strike - o.stock * pow(o.up, 2 * ups - step);
    return gain > 0 ? gain : 0;
}

__host__ __device__ double hold(const option &o, double up, double down)
{
    return o.discount * (o.chance * up + (1 - o.chance) * down);
}

__global__ void price(const option *options, double *prices)
{
    __shared__ double level[STEPS + 1];
    int node = threadIdx.x;
    option mine = options[blockIdx.x];
    level[node] = exercise(mine, STEPS, node);
    for (int step = STEPS - 1; step >= 0; step--) {
        __syncthreads();
        double value = 0;
        if (node <= step)
            value = fmax(exercise(mine, step, node), hold(mine, level[node + 1], level[node]));
        __syncthreads();
        if (node <= step)
            level[node] = value;
    }
    if (node == 0)
        prices[blockIdx.x] = level[0];
}

int main()
{
    random_numbers random(13);
    std::vector<option> options(OPTIONS);
    std::vector<double> expected(OPTIONS);
    for (int i = 0; i < OPTIONS; i++) {
        double span = 1.0 / STEPS, up = exp(0.3 * sqrt(span)), growth = exp(0.05 * span);
        option mine = {50 + 50.0 * random.uniform(), 50 + 50.0 * random.uniform(), up, 1 / growth,
                       (growth - 1 / up) / (up - 1 / up)};
        double level[STEPS + 1];
        for (int node = 0; node <= STEPS; node++)
            level[node] = exercise(mine, STEPS, node);
        for (int step = STEPS - 1; step >= 0; step--)
            for (int node = 0; node <= step; node++)
                level[node] =
                    fmax(exercise(mine, step, node), hold(mine, level[node + 1], level[node]));
        options[i] = mine;
        expected[i] = level[0];
    }
    on_device<option> there(options);
    on_device<double> prices(OPTIONS);
    price<<<OPTIONS, STEPS + 1>>>(there, prices);
    LAUNCHED();
    near(prices.read(), expected, 1e-10, "prices");
    return 0;
}
