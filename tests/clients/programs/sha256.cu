/* SHA-256 of many short messages; the constants are computed from primes, and one digest is known
 * from the standard. */
#include "program.cuh"

__constant__ uint32_t constants[64];
static uint32_t constants_here[64];

__host__ __device__ uint32_t turned(uint32_t word, int by)
{
    return word >> by | word << (32 - by);
}

__host__ __device__ void digest(const uint32_t *k, const unsigned char *message, int length,
                                uint32_t *state)
{
    uint32_t w[64] = {}, s[8];
    for (int i = 0; i <= length; i++)
        w[i / 4] |= (uint32_t)(i < length ? message[i] : 0x80) << (24 - i % 4 * 8);
    w[15] = (uint32_t)length * 8;
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (turned(a, 7) ^ turned(a, 18) ^ a >> 3) + w[i - 7] +
               (turned(b, 17) ^ turned(b, 19) ^ b >> 10);
    }
    for (int i = 0; i < 8; i++)
        s[i] = state[i];
    for (int i = 0; i < 64; i++) {
        uint32_t more = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) +
                        ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
        uint32_t sum = more + (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) +
                       ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        for (int j = 7; j > 0; j--)
            s[j] = s[j - 1];
        s[4] += more;
        s[0] = sum;
    }
    for (int i = 0; i < 8; i++)
        state[i] += s[i];
}

__global__ void digest_all(const unsigned char *text, const int *lengths, uint32_t *states)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    digest(constants, text + i, lengths[i], states + 8 * i);
}

int main()
{
    const int messages = 256;
    std::vector<uint32_t> start;
    for (int prime = 2, found = 0; found < 64; prime++) {
        bool divides = false;
        for (int i = 2; i * i <= prime; i++)
            divides |= prime % i == 0;
        if (divides)
            continue;
        long double root = sqrtl(prime), cube = cbrtl(prime);
        if (found < 8)
            start.push_back((uint32_t)(uint64_t)((root - floorl(root)) * 4294967296.0L));
        constants_here[found++] = (uint32_t)(uint64_t)((cube - floorl(cube)) * 4294967296.0L);
    }
    random_numbers random(36);
    std::vector<unsigned char> text(messages + 64);
    for (unsigned char &byte : text)
        byte = (unsigned char)random.next();
    text[0] = 'a', text[1] = 'b', text[2] = 'c';
    std::vector<int> lengths = random.ints(messages, 56);
    lengths[0] = 3;
    std::vector<uint32_t> states;
    for (int i = 0; i < messages; i++)
        states.insert(states.end(), start.begin(), start.end());
    MUST(cudaMemcpyToSymbol(constants, constants_here, sizeof constants));
    on_device<unsigned char> there(text);
    on_device<int> sizes(lengths);
    on_device<uint32_t> digests(states);
    digest_all<<<messages / 64, 64>>>(there, sizes, digests);
    LAUNCHED();
    for (int i = 0; i < messages; i++)
        digest(constants_here, &text[i], lengths[i], &states[8 * i]);
    same(digests.read(), states, "words of digests");
    HOLDS(states[0] == 0xba7816bf && states[7] == 0xf20015ad);
    return 0;
}
