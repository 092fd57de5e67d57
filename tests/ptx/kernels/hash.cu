/* Hashes, checksums, random numbers. */
static __device__ unsigned rotate(unsigned value, int by)
{
    return value >> by | value << (32 - by);
}

__constant__ unsigned sha256_round[64];

/* A block of 64 bytes for each thread, with the padding in it. */
extern "C" __global__ void sha256(const unsigned char *in, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned w[64], state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int k = 0; k < 16; k++) {
        const unsigned char *at = in + 64 * i + 4 * k;
        w[k] = at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3];
    }
    for (int k = 16; k < 64; k++) {
        unsigned s0 = rotate(w[k - 15], 7) ^ rotate(w[k - 15], 18) ^ w[k - 15] >> 3;
        unsigned s1 = rotate(w[k - 2], 17) ^ rotate(w[k - 2], 19) ^ w[k - 2] >> 10;
        w[k] = w[k - 16] + s0 + w[k - 7] + s1;
    }
    unsigned a = state[0], b = state[1], c = state[2], d = state[3];
    unsigned e = state[4], f = state[5], g = state[6], h = state[7];
    for (int k = 0; k < 64; k++) {
        unsigned one = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) +
                       sha256_round[k] + w[k];
        unsigned two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + one;
        d = c;
        c = b;
        b = a;
        a = one + two;
    }
    unsigned found[8] = {a, b, c, d, e, f, g, h};
    for (int k = 0; k < 8; k++)
        out[8 * i + k] = state[k] + found[k];
}

extern "C" __global__ void xorshift(unsigned long long *states, unsigned *out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long x = states[i];
    unsigned folded = 0;
    for (int k = 0; k < rounds + i % 5; k++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        folded = rotate(folded, 5) + (unsigned)(x >> 32);
    }
    states[i] = x;
    out[i] = folded;
}

/* The table of CRC-32, then the checksum of pieces. */
__device__ unsigned crc_table[256];

extern "C" __global__ void fill_crc_table()
{
    unsigned value = threadIdx.x;
    for (int k = 0; k < 8; k++)
        value = value & 1 ? value >> 1 ^ 0xedb88320 : value >> 1;
    crc_table[threadIdx.x] = value;
}

extern "C" __global__ void crc32(const unsigned char *in, const int *starts, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned value = ~0u;
    for (int k = starts[i]; k < starts[i + 1]; k++)
        value = value >> 8 ^ crc_table[(value ^ in[k]) & 255];
    out[i] = ~value;
}

/* FNV-1a of strings that end with 0. */
extern "C" __global__ void fnv(const char *const *strings, unsigned long long *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long value = 14695981039346656037ull;
    for (const char *at = strings[i]; *at; at++)
        value = (value ^ (unsigned char)*at) * 1099511628211ull;
    out[i] = value;
}

/* An open hash table: keys are inserted with compare-and-swap, counts with an add. */
extern "C" __global__ void count_keys(const unsigned *keys, int n, unsigned *slots, unsigned *counts,
                                      unsigned mask)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned at = keys[i] * 2654435761u >> 16;
        for (;; at++) {
            unsigned old = atomicCAS(&slots[at & mask], 0u, keys[i]);
            if (old == 0 || old == keys[i])
                break;
        }
        atomicAdd(&counts[at & mask], 1u);
    }
}

/* Murmur's mixing of 64 bits, both ways of multiplying. */
extern "C" __global__ void mix(unsigned long long *values, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long x = values[i];
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
    values[i] = __umul64hi(x, 0x9e3779b97f4a7c15ull) ^ __brevll(x) ^ __byte_perm((unsigned)x, 0x12345678, 0x3715);
}
