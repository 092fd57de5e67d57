/*
 * Kernels of the kinds that were slow: compiled as CUDA C to PTX (kernels.cu), and as C
 * (in_c.c), where a loop goes through the threads of a block between two barriers.
 *
 *   EACH_THREAD { ... }    a part between two barriers; `thread` is the thread's number
 *   PRIVATE(type, name)    a variable that a thread keeps over barriers: MY(name)
 *   FROM_LANE(name, lane)  another lane's value of it, in a part that does not write it
 *
 * All have the same parameters: three arrays to read, two to write, and a number.
 */
#include "dialect.h"

/* ---- products ---- */

#define TILE 16

/* out = a b, of matrices of n x n. */
KERNEL(product, TILE * TILE)
{
    SHARED float of_a[TILE][TILE], of_b[TILE][TILE];
    PRIVATE(float, sum);
    const int row = (int)block / (n / TILE) * TILE, column = (int)block % (n / TILE) * TILE;

    EACH_THREAD
        MY(sum) = 0;
    for (int at = 0; at < n; at += TILE) {
        EACH_THREAD {
            int y = (int)thread / TILE, x = (int)thread % TILE;

            of_a[y][x] = a[(row + y) * n + at + x];
            of_b[y][x] = b[(at + y) * n + column + x];
        }
        BARRIER;
        EACH_THREAD {
            int y = (int)thread / TILE, x = (int)thread % TILE;

            for (int k = 0; k < TILE; k++)
                MY(sum) += of_a[y][k] * of_b[k][x];
        }
        BARRIER;
    }
    EACH_THREAD
        out[(row + (int)thread / TILE) * n + column + (int)thread % TILE] = MY(sum);
}

/* A row of weights in half precision for each warp, times a vector; the lanes' sums meet. */
KERNEL(half_row, 32)
{
    const unsigned short *weights = (const unsigned short *)words + (size_t)block * 1024;
    PRIVATE(float, sum);
    PRIVATE(float, other);

    EACH_THREAD {
        MY(sum) = 0;
        for (int i = (int)thread; i < 1024; i += 32)
            MY(sum) += HALF_VALUE(weights[i]) * a[i % n];
    }
    for (int by = 16; by > 0; by /= 2) {
        EACH_THREAD
            MY(other) = FROM_LANE(sum, thread ^ (unsigned)by);
        EACH_THREAD
            MY(sum) += MY(other);
    }
    EACH_THREAD
        if (thread == 0)
            out[block] = MY(sum);
}

/* A bias for each column, and rows that are put into another order by quotients of the place. */
KERNEL(bias, 128)
{
    EACH_THREAD {
        for (int i = (int)(block * 128 + thread); i < n * 768; i += (int)blocks * 128) {
            int row = i / 768, column = i % 768, head = column / 64, part = column % 64;
            int sequence = row % 32, batch = row / 32;

            out[((batch * 12 + head) * 32 + sequence) * 64 + part] = a[i] + b[column];
        }
    }
}

/* Chains of products and sums in double precision. */
KERNEL(doubles, 128)
{
    EACH_THREAD {
        double x = a[thread], y = b[thread], z = 0.5;

        for (int i = 0; i < n; i++) {
            x = x * 0.5 + y;
            y = y * 0.25 + z;
            z = z * 0.125 + x;
        }
        out[block * 128 + thread] = (float)(x + y + z);
    }
}

/* ---- scans and sums ---- */

/* Inclusive sums of a block's 256 values: by lanes, then by warps. */
KERNEL(scan, 256)
{
    SHARED unsigned totals[8];
    PRIVATE(unsigned, value);
    PRIVATE(unsigned, other);

    for (int part = 0; part < n; part++) {
        EACH_THREAD
            MY(value) = words[((size_t)block * (unsigned)n + (unsigned)part) * 256 + thread] & 255;
        for (unsigned by = 1; by < 32; by *= 2) {
            EACH_THREAD
                MY(other) = FROM_LANE(value, thread % 32 >= by ? thread - by : thread);
            EACH_THREAD
                if (thread % 32 >= by)
                    MY(value) += MY(other);
        }
        EACH_THREAD
            if (thread % 32 == 31)
                totals[thread / 32] = MY(value);
        BARRIER;
        EACH_THREAD {
            for (unsigned warp = 0; warp < thread / 32; warp++)
                MY(value) += totals[warp];
            counts[((size_t)block * (unsigned)n + (unsigned)part) * 256 + thread] = MY(value);
        }
        BARRIER;
    }
}

/* A tree of sums in shared memory, half as many threads in each step, to one atomic sum. */
KERNEL(tree_sum, 256)
{
    SHARED float values[256];

    EACH_THREAD {
        float sum = 0;

        for (int i = 0; i < n; i++)
            sum += a[((size_t)block * (unsigned)n + (unsigned)i) * 256 + thread];
        values[thread] = sum;
    }
    BARRIER;
    for (unsigned step = 128; step > 0; step /= 2) {
        EACH_THREAD
            if (thread < step)
                values[thread] += values[thread + step];
        BARRIER;
    }
    EACH_THREAD
        if (thread == 0)
            ADD_FLOAT(&out[block % 64], values[0]);
}

/* 256 counters in shared memory, then in global memory. */
KERNEL(histogram, 256)
{
    SHARED unsigned own[256];

    EACH_THREAD
        own[thread] = 0;
    BARRIER;
    EACH_THREAD
        for (int i = 0; i < n; i++)
            ADD_OWN(
                &own[words[((size_t)block * (unsigned)n + (unsigned)i) * 256 + thread] >> 8 & 255],
                1);
    BARRIER;
    EACH_THREAD
        ADD(&counts[thread], own[thread]);
}

/* ---- sorting ---- */

/* Bitonic: pairs of 512 values change places. */
KERNEL(network, 256)
{
    SHARED unsigned keys[512];

    EACH_THREAD {
        keys[thread] = words[block * 512 + thread];
        keys[thread + 256] = words[block * 512 + thread + 256];
    }
    for (unsigned size = 2; size <= 512; size *= 2) {
        for (unsigned step = size / 2; step > 0; step /= 2) {
            BARRIER;
            EACH_THREAD {
                unsigned at = 2 * thread - (thread & (step - 1));
                unsigned one = keys[at], other = keys[at + step];
                int up = (thread & (size / 2)) == 0;

                if ((one > other) == up) {
                    keys[at] = other;
                    keys[at + step] = one;
                }
            }
        }
    }
    BARRIER;
    EACH_THREAD {
        counts[block * 512 + thread] = keys[thread];
        counts[block * 512 + thread + 256] = keys[thread + 256];
    }
}

/* Merges two sorted runs of 128: each value finds its place in the other one. */
KERNEL(merge, 256)
{
    SHARED unsigned keys[256], sorted[256];

    EACH_THREAD
        sorted[thread] = words[block * 256 + thread];
    for (unsigned run = 1; run < 256; run *= 2) {
        BARRIER;
        EACH_THREAD
            keys[thread] = sorted[thread];
        BARRIER;
        EACH_THREAD {
            unsigned key = keys[thread], begin = thread & ~(2 * run - 1);
            unsigned first = thread & run, low = 0, high = run;
            const unsigned *others = &keys[begin + (first ? 0 : run)];

            while (low < high) {
                unsigned middle = (low + high) / 2;

                if (others[middle] < key || (first && others[middle] == key))
                    low = middle + 1;
                else
                    high = middle;
            }
            sorted[begin + (thread & (run - 1)) + low] = key;
        }
    }
    BARRIER;
    EACH_THREAD
        counts[block * 256 + thread] = sorted[thread];
}

/* Each thread keeps the 8 largest of what it reads, in order. */
KERNEL(largest, 128)
{
    EACH_THREAD {
        float best[8];

        for (int k = 0; k < 8; k++)
            best[k] = -1e30f;
        for (int i = 0; i < n; i++) {
            float value = a[((size_t)block * (unsigned)n + (unsigned)i) * 128 + thread];
            int at = 7;

            if (value <= best[7])
                continue;
            while (at > 0 && best[at - 1] < value) {
                best[at] = best[at - 1];
                at--;
            }
            best[at] = value;
        }
        for (int k = 0; k < 8; k++)
            out[(block * 8 + (unsigned)k) * 128 + thread] = best[k];
    }
}

/* ---- finance ---- */

NESTED float normal_sum(float x)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(x));
    float sum = 0.39894228f * expf(-0.5f * x * x) *
                (k * (0.31938153f +
                      k * (-0.356563782f +
                           k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));

    return x > 0 ? 1.0f - sum : sum;
}

KERNEL(option, 128)
{
    EACH_THREAD {
        unsigned i = block * 128 + thread;
        float price = 5.0f + fabsf(a[i]), strike = 1.0f + fabsf(b[i]), years = 0.25f, call = 0;

        for (int k = 0; k < n; k++) {
            float root = sqrtf(years);
            float d1 = (logf(price / strike) + (0.02f + 0.045f) * years) / (0.3f * root);
            float d2 = d1 - 0.3f * root;

            call += price * normal_sum(d1) - strike * expf(-0.02f * years) * normal_sum(d2);
            years += 0.125f;
        }
        out[i] = call;
    }
}

/* An option for each block: its tree backwards, one step of time between two barriers. */
KERNEL(binomial, 128)
{
    SHARED float values[2][129];
    const float price = 20.0f + fabsf(a[block]), strike = 15.0f + fabsf(b[block]);

    EACH_THREAD {
        float up = expf(0.02f * (2.0f * (float)thread - 128.0f));

        values[0][thread] = fmaxf(price * up - strike, 0.0f);
        if (thread == 0)
            values[0][128] = fmaxf(price * expf(2.56f) - strike, 0.0f);
    }
    BARRIER;
    for (int step = 128; step > 0; step--) {
        EACH_THREAD
            if ((int)thread < step)
                values[1 - step % 2][thread] = 0.5023f * values[step % 2][thread + 1] +
                                               0.4975f * values[step % 2][thread];
        BARRIER;
    }
    EACH_THREAD
        if (thread == 0)
            out[block] = values[0][0];
}

/* ---- physics ---- */

/* Neighbours from lists: gathers, and pairs that are too far do nothing. */
KERNEL(particles, 128)
{
    EACH_THREAD {
        unsigned i = block * 128 + thread, all = blocks * 128;
        float x = a[3 * i], y = a[3 * i + 1], z = a[3 * i + 2], fx = 0, fy = 0, fz = 0;

        for (int k = 0; k < n; k++) {
            unsigned other = words[(unsigned)k * all + i] % all;
            float dx = x - a[3 * other], dy = y - a[3 * other + 1], dz = z - a[3 * other + 2];
            float square = dx * dx + dy * dy + dz * dz;

            if (square < 2048.0f && square > 0.0f) {
                float inverse = 1.0f / square, sixth = inverse * inverse * inverse;
                float force = inverse * sixth * (1.5f * sixth - 2.0f);

                fx += dx * force;
                fy += dy * force;
                fz += dz * force;
            }
        }
        out[3 * i] = fx;
        out[3 * i + 1] = fy;
        out[3 * i + 2] = fz;
    }
}

/* Cross sections: a search in a grid of energies, then gathers between two of its points. */
KERNEL(sections, 128)
{
    EACH_THREAD {
        unsigned state = words[block * 128 + thread];
        double sums[5] = {0};

        for (int i = 0; i < n; i++) {
            unsigned low = 0, high = 4095;
            double energy, part;

            state = state * 1664525u + 1013904223u;
            energy = (double)(state >> 8) / 16777216.0;
            while (high - low > 1) {
                unsigned middle = (low + high) / 2;

                if ((double)middle / 4096.0 > energy)
                    high = middle;
                else
                    low = middle;
            }
            part = energy * 4096.0 - low;
            for (int k = 0; k < 5; k++)
                sums[k] += (double)a[low * 5 + (unsigned)k] * (1.0 - part) +
                           (double)a[high * 5 + (unsigned)k] * part;
        }
        out[block * 128 + thread] = (float)(sums[0] + sums[1] + sums[2] + sums[3] + sums[4]);
    }
}

/* A field in double precision: seven points of a cube of 64 x 64 x n. */
KERNEL(field, 128)
{
    const double *in = (const double *)(const void *)a;
    double *to = (double *)(void *)out;

    EACH_THREAD {
        int i = (int)(block * 128 + thread), x = i % 64, y = i / 64 % 64, z = i / 4096;

        if (x > 0 && x < 63 && y > 0 && y < 63 && z > 0 && z < n - 1) {
            double here = in[i];
            double sum =
                in[i - 1] + in[i + 1] + in[i - 64] + in[i + 64] + in[i - 4096] + in[i + 4096];
            double slope = here * (1.0 - here) * (here - 0.5);

            to[i] = here + 0.1 * (sum - 6.0 * here) + 0.2 * slope / (1.0 + here * here);
        }
    }
}

/* Systems of 128 equations: cyclic reduction, half as many threads in each step. */
KERNEL(tridiagonal, 64)
{
    SHARED float low[128], middle[128], high[128], right[128], x[128];
    unsigned count = 64, by = 1;

    EACH_THREAD {
        for (unsigned i = thread; i < 128; i += 64) {
            low[i] = i > 0 ? -1.0f : 0.0f;
            high[i] = i < 127 ? -1.0f : 0.0f;
            middle[i] = 4.0f + fabsf(b[i]);
            right[i] = a[block * 128 + i];
        }
    }
    for (; count > 1; count /= 2, by *= 2) {
        BARRIER;
        EACH_THREAD {
            if (thread < count) {
                unsigned i = 2 * by * thread + 2 * by - 1, last = i + by < 127 ? i + by : 127;
                float k1 = low[i] / middle[i - by], k2 = high[i] / middle[last];

                middle[i] = middle[i] - high[i - by] * k1 - (i == 127 ? 0.0f : low[last] * k2);
                right[i] = right[i] - right[i - by] * k1 - (i == 127 ? 0.0f : right[last] * k2);
                low[i] = -low[i - by] * k1;
                high[i] = i == 127 ? 0.0f : -high[last] * k2;
            }
        }
    }
    BARRIER;
    EACH_THREAD {
        if (thread == 0) {
            float divisor = middle[127] * middle[63] - low[127] * high[63];

            x[63] = (middle[127] * right[63] - high[63] * right[127]) / divisor;
            x[127] = (right[127] * middle[63] - right[63] * low[127]) / divisor;
        }
    }
    for (count = 2; by > 1; count *= 2) {
        by /= 2;
        BARRIER;
        EACH_THREAD {
            if (thread < count) {
                unsigned i = 2 * by * thread + by - 1;
                float before = i >= by ? low[i] * x[i - by] : 0.0f;

                x[i] = (right[i] - before - high[i] * x[i + by]) / middle[i];
            }
        }
    }
    BARRIER;
    EACH_THREAD {
        out[block * 128 + thread] = x[thread];
        out[block * 128 + 64 + thread] = x[thread + 64];
    }
}

/* ---- searches ---- */

/* Tours of 32 places, as each thread has them in an array of its own: the best exchange of two. */
KERNEL(tour, 64)
{
    SHARED float place_x[32], place_y[32];

    EACH_THREAD {
        if (thread < 32) {
            place_x[thread] = a[thread];
            place_y[thread] = b[thread];
        }
    }
    BARRIER;
    EACH_THREAD {
        unsigned char order[32];
        unsigned state = words[block * 64 + thread] | 1;
        float length = 0;

        for (int i = 0; i < 32; i++)
            order[i] = (unsigned char)i;
        for (int i = 31; i > 0; i--) {
            unsigned j;
            unsigned char kept = order[i];

            state = state * 1664525u + 1013904223u;
            j = (state >> 16) % (unsigned)(i + 1);
            order[i] = order[j];
            order[j] = kept;
        }
        for (int times = 0; times < n; times++) {
            float best = -1e-3f;
            int from = 0, to = 0;

            for (int i = 0; i < 30; i++) {
                float ax = place_x[order[i]], ay = place_y[order[i]];
                float bx = place_x[order[i + 1]], by = place_y[order[i + 1]];
                float old = DISTANCE(ax - bx, ay - by);

                for (int j = i + 2; j < 31; j++) {
                    float cx = place_x[order[j]], cy = place_y[order[j]];
                    float dx = place_x[order[j + 1]], dy = place_y[order[j + 1]];
                    float change = DISTANCE(ax - cx, ay - cy) + DISTANCE(bx - dx, by - dy) - old -
                                   DISTANCE(cx - dx, cy - dy);

                    if (change < best) {
                        best = change;
                        from = i + 1;
                        to = j;
                    }
                }
            }
            for (; from < to; from++, to--) {
                unsigned char kept = order[from];

                order[from] = order[to];
                order[to] = kept;
            }
        }
        for (int i = 0; i < 31; i++)
            length += DISTANCE(place_x[order[i]] - place_x[order[i + 1]],
                               place_y[order[i]] - place_y[order[i + 1]]);
        out[block * 64 + thread] = length;
    }
}

/* Cubes of a volume whose corners lie on both sides of a surface: most have nothing to do. */
KERNEL(cubes, 128)
{
    EACH_THREAD {
        unsigned i = block * 128 + thread, inside = 0, triangles = 0;
        unsigned x = i % 64, y = i / 64 % 64, z = i / 4096;
        float corners[8];

        for (unsigned corner = 0; corner < 8; corner++) {
            float dx = (float)(x + (corner & 1)) - 31.5f;
            float dy = (float)(y + (corner >> 1 & 1)) - 31.5f;
            float dz = (float)(z + (corner >> 2)) - 31.5f;

            corners[corner] = dx * dx + dy * dy + dz * dz - 600.0f - 4.0f * fabsf(a[i % 4096]);
            inside |= (unsigned)(corners[corner] < 0) << corner;
        }
        if (inside != 0 && inside != 255) {
            unsigned code = words[inside];
            float sum = 0;

            for (unsigned edge = 0; edge < 12; edge++) {
                unsigned one = edge < 8 ? edge : edge - 8, other = one ^ (1u << edge / 4);

                if ((corners[one] < 0) == (corners[other] < 0))
                    continue;
                sum += corners[one] / (corners[one] - corners[other]);
                triangles += code >> edge & 1;
            }
            out[i] = sum;
            ADD(&counts[inside], triangles);
        }
    }
}

/* Points leave after different numbers of steps. */
KERNEL(escape, 128)
{
    EACH_THREAD {
        unsigned i = block * 128 + thread, steps = 0;
        float x0 = (float)(i % 512) / 256.0f - 1.5f, y0 = (float)(i / 512 % 512) / 256.0f - 1.0f;
        float x = 0, y = 0;

        while (x * x + y * y < 4.0f && steps < (unsigned)n) {
            float next = x * x - y * y + x0;

            y = 2.0f * x * y + y0;
            x = next;
            steps++;
        }
        counts[i] = steps;
    }
}

/* Rounds of a hash: products of 64 bits, rotations, bytes in another order. */
KERNEL(hash, 128)
{
    EACH_THREAD {
        unsigned long long state = words[block * 128 + thread] + 0x9e3779b97f4a7c15u;
        unsigned sum = 0;

        for (int i = 0; i < n; i++) {
            unsigned high = (unsigned)(state >> 32), low = (unsigned)state;

            state = state * 6364136223846793005u + 1442695040888963407u;
            low = (low << 7 | low >> 25) ^ high;
            low = low >> 24 | (low >> 8 & 0xff00) | (low << 8 & 0xff0000) | low << 24;
            sum += (low & high) ^ (~low & sum);
        }
        counts[block * 128 + thread] = sum;
    }
}
