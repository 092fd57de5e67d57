/* Prices of European options by the formula of Black and Scholes, with the device's own normal
 * distribution. */
#include "program.cuh"

const double RATE = 0.02, VOLATILITY = 0.3;

__global__ void price(const float *stocks, const float *strikes, const float *years, float *calls,
                      float *puts, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float rate = (float)RATE, volatility = (float)VOLATILITY, root = sqrtf(years[i]);
    float d1 = (logf(stocks[i] / strikes[i]) + (rate + volatility * volatility / 2) * years[i]) /
               (volatility * root);
    float d2 = d1 - volatility * root, discounted = strikes[i] * expf(-rate * years[i]);
    calls[i] = stocks[i] * normcdff(d1) - discounted * normcdff(d2);
    puts[i] = discounted * normcdff(-d2) - stocks[i] * normcdff(-d1);
}

static double normal(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

int main()
{
    const int count = 3000;
    random_numbers random(12);
    std::vector<float> stocks(count), strikes(count), years(count), calls(count), puts(count);
    for (int i = 0; i < count; i++) {
        stocks[i] = 5 + 25 * random.uniform();
        strikes[i] = 1 + 99 * random.uniform();
        years[i] = 0.25f + 9.75f * random.uniform();
        double root = sqrt(years[i]);
        double d1 = (log((double)stocks[i] / strikes[i]) +
                     (RATE + VOLATILITY * VOLATILITY / 2) * years[i]) /
                    (VOLATILITY * root);
        double d2 = d1 - VOLATILITY * root, discounted = strikes[i] * exp(-RATE * years[i]);
        calls[i] = (float)(stocks[i] * normal(d1) - discounted * normal(d2));
        puts[i] = (float)(discounted * normal(-d2) - stocks[i] * normal(-d1));
    }
    on_device<float> a(stocks), b(strikes), c(years), found_calls(count), found_puts(count);
    price<<<blocks_for(count, 128), 128>>>(a, b, c, found_calls, found_puts, count);
    LAUNCHED();
    near(found_calls.read(), calls, 1e-4, "calls");
    near(found_puts.read(), puts, 1e-4, "puts");
    return 0;
}
