/* A block cipher of additions, turns and exclusive ors (XTEA) in counter mode, and back again. */
#include "program.cuh"

enum { BLOCKS_OF_TEXT = 2048, ROUNDS = 32 };

struct key {
    uint32_t words[4];
};

__host__ __device__ uint2 encipher(uint2 block, const key &with)
{
    uint32_t sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        block.x += ((block.y << 4 ^ block.y >> 5) + block.y) ^ (sum + with.words[sum & 3]);
        sum += 0x9e3779b9;
        block.y += ((block.x << 4 ^ block.x >> 5) + block.x) ^ (sum + with.words[sum >> 11 & 3]);
    }
    return block;
}

__host__ __device__ uint2 decipher(uint2 block, const key &with)
{
    uint32_t sum = 0x9e3779b9u * ROUNDS;
    for (int round = 0; round < ROUNDS; round++) {
        block.y -= ((block.x << 4 ^ block.x >> 5) + block.x) ^ (sum + with.words[sum >> 11 & 3]);
        sum -= 0x9e3779b9;
        block.x -= ((block.y << 4 ^ block.y >> 5) + block.y) ^ (sum + with.words[sum & 3]);
    }
    return block;
}

/* The key is a parameter of 16 bytes, by value. */
__global__ void count_blocks(uint2 *text, key with, bool back)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    uint2 pad = encipher(make_uint2(i, 0x12345678), with);
    text[i].x ^= pad.x;
    text[i].y ^= pad.y;
    text[i] = back ? decipher(text[i], with) : text[i];
}

int main()
{
    random_numbers random(38);
    key with = {{random.next(), random.next(), random.next(), random.next()}};
    std::vector<uint32_t> plain(2 * BLOCKS_OF_TEXT), found(2 * BLOCKS_OF_TEXT);
    for (uint32_t &word : plain)
        word = random.next();
    on_device<uint2> text(BLOCKS_OF_TEXT);
    size_t bytes = plain.size() * sizeof plain[0];
    MUST(cudaMemcpy(text, plain.data(), bytes, cudaMemcpyHostToDevice));
    count_blocks<<<BLOCKS_OF_TEXT / 128, 128>>>(text, with, false);
    LAUNCHED();
    std::vector<uint32_t> expected = plain;
    for (uint32_t i = 0; i < BLOCKS_OF_TEXT; i++) {
        uint2 pad = encipher(make_uint2(i, 0x12345678), with);
        expected[2 * i] ^= pad.x;
        expected[2 * i + 1] ^= pad.y;
    }
    MUST(cudaMemcpy(found.data(), text, bytes, cudaMemcpyDeviceToHost));
    same(found, expected, "enciphered words");
    count_blocks<<<BLOCKS_OF_TEXT / 128, 128>>>(text, with, true);
    LAUNCHED();
    MUST(cudaMemcpy(found.data(), text, bytes, cudaMemcpyDeviceToHost));
    for (uint32_t i = 0; i < BLOCKS_OF_TEXT; i++) {
        uint2 block = encipher(make_uint2(found[2 * i], found[2 * i + 1]), with);
        found[2 * i] = block.x;
        found[2 * i + 1] = block.y;
    }
    same(found, plain, "deciphered words");
    return 0;
}
