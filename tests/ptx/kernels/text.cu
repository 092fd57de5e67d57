/* Texts. */

/* All places of a word, with a byte for each; `?` stands for any letter. */
extern "C" __global__ void find_word(const char *text, int length, const char *word, int size,
                                     unsigned char *found)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= length)
        return;
    bool same = i + size <= length;
    for (int k = 0; k < size && same; k++)
        same = word[k] == '?' || text[i + k] == word[k];
    found[i] = same;
}

/* Words begin behind what is no letter. */
extern "C" __global__ void count_words(const char *text, int length, unsigned *count)
{
    __shared__ unsigned mine;
    if (threadIdx.x == 0)
        mine = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length) {
        bool letter = (text[i] | 32) >= 'a' && (text[i] | 32) <= 'z';
        bool before = i > 0 && (text[i - 1] | 32) >= 'a' && (text[i - 1] | 32) <= 'z';
        if (letter && !before)
            atomicAdd(&mine, 1u);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(count, mine);
}

__constant__ char digits[64] = {
    'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L', 'M', 'N', 'O', 'P', 'Q', 'R', 'S', 'T', 'U', 'V',
    'W', 'X', 'Y', 'Z', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r',
    's', 't', 'u', 'v', 'w', 'x', 'y', 'z', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '+', '/'};

/* Three bytes become four letters. */
extern "C" __global__ void encode64(const unsigned char *in, uchar4 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned bits = in[3 * i] << 16 | in[3 * i + 1] << 8 | in[3 * i + 2];
    out[i] = make_uchar4(digits[bits >> 18], digits[bits >> 12 & 63], digits[bits >> 6 & 63], digits[bits & 63]);
}

/* Edits from one word to another, with two rows in local memory. */
extern "C" __global__ void count_edits(const char *words, int room, int *out, int n)
{
    int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= n)
        return;
    const char *a = words + 2 * room * pair, *b = a + room;
    unsigned char rows[2][33];
    int length = 0;
    for (; b[length]; length++)
        rows[0][length] = length;
    rows[0][length] = length;
    int now = 0;
    for (int i = 0; a[i]; i++, now ^= 1) {
        rows[now ^ 1][0] = i + 1;
        for (int k = 0; k < length; k++) {
            int best = rows[now][k] + (a[i] != b[k]);
            best = min(best, rows[now][k + 1] + 1);
            best = min(best, rows[now ^ 1][k] + 1);
            rows[now ^ 1][k + 1] = best;
        }
    }
    out[pair] = rows[now][length];
}

/* Numbers as text, the shortest way. */
extern "C" __global__ void write_numbers(const int *in, char *out, int room, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    char reversed[12], *at = out + room * i;
    unsigned left = in[i] < 0 ? 0u - in[i] : in[i];
    int count = 0;
    do
        reversed[count++] = '0' + left % 10;
    while (left /= 10);
    if (in[i] < 0)
        *at++ = '-';
    while (count > 0)
        *at++ = reversed[--count];
    *at = '\0';
}
