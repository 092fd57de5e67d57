/* Textures that filter between pixels: of an array, of pitched rows, and of bytes that are read as
 * fractions. */
#include "program.cuh"

enum { WIDTH = 64, HEIGHT = 32, SAMPLES = 1024 };

__global__ void sample(cudaTextureObject_t texture, const float2 *places, float *values)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] = tex2D<float>(texture, places[i].x, places[i].y);
}

static float pixel(const std::vector<float> &image, int x, int y)
{
    x = std::min(std::max(x, 0), WIDTH - 1);
    y = std::min(std::max(y, 0), HEIGHT - 1);
    return image[y * WIDTH + x];
}

/* Edges are repeated. A GPU has 8 bits for the weight of a neighbour. */
static float filtered(const std::vector<float> &image, float2 place)
{
    float x = floorf(place.x - 0.5f), y = floorf(place.y - 0.5f), a = place.x - 0.5f - x,
          b = place.y - 0.5f - y;
    int i = (int)x, j = (int)y;
    return (1 - b) * ((1 - a) * pixel(image, i, j) + a * pixel(image, i + 1, j)) +
           b * ((1 - a) * pixel(image, i, j + 1) + a * pixel(image, i + 1, j + 1));
}

static std::vector<float> sampled(const cudaResourceDesc &resource, cudaTextureReadMode mode,
                                  const on_device<float2> &places)
{
    cudaTextureDesc how{};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = mode;
    cudaTextureObject_t texture;
    MUST(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    on_device<float> values(SAMPLES);
    sample<<<SAMPLES / 128, 128>>>(texture, places, values);
    LAUNCHED();
    MUST(cudaDeviceSynchronize());
    MUST(cudaDestroyTextureObject(texture));
    return values.read();
}

int main()
{
    random_numbers random(46);
    std::vector<float> image(WIDTH * HEIGHT), expected(SAMPLES);
    std::vector<unsigned char> bytes(WIDTH * HEIGHT);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        image[i] = (bytes[i] = (unsigned char)random.below(256)) / 255.f;
    std::vector<float2> places(SAMPLES);
    for (int i = 0; i < SAMPLES; i++) {
        places[i] =
            make_float2(random.uniform() * (WIDTH + 4) - 2, random.uniform() * (HEIGHT + 4) - 2);
        expected[i] = filtered(image, places[i]);
    }
    on_device<float2> there(places);

    cudaResourceDesc resource{};
    cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
    resource.resType = cudaResourceTypeArray;
    MUST(cudaMallocArray(&resource.res.array.array, &floats, WIDTH, HEIGHT));
    size_t row = WIDTH * sizeof(float);
    MUST(cudaMemcpy2DToArray(resource.res.array.array, 0, 0, image.data(), row, row, HEIGHT,
                             cudaMemcpyHostToDevice));
    near(sampled(resource, cudaReadModeElementType, there), expected, 0.01, "samples of an array");
    MUST(cudaFreeArray(resource.res.array.array));

    cudaResourceDesc rows{};
    rows.resType = cudaResourceTypePitch2D;
    rows.res.pitch2D.desc = cudaCreateChannelDesc<unsigned char>();
    rows.res.pitch2D.width = WIDTH;
    rows.res.pitch2D.height = HEIGHT;
    MUST(cudaMallocPitch(&rows.res.pitch2D.devPtr, &rows.res.pitch2D.pitchInBytes, WIDTH, HEIGHT));
    MUST(cudaMemcpy2D(rows.res.pitch2D.devPtr, rows.res.pitch2D.pitchInBytes, bytes.data(), WIDTH,
                      WIDTH, HEIGHT, cudaMemcpyHostToDevice));
    near(sampled(rows, cudaReadModeNormalizedFloat, there), expected, 0.01,
         "samples of pitched rows");
    MUST(cudaFree(rows.res.pitch2D.devPtr));
    return 0;
}
