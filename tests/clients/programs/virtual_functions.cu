/* Objects with virtual functions, made by a kernel with new, used by another and deleted by a
 * third. */
#include "program.cuh"

class shape
{
  public:
    __host__ __device__ virtual ~shape()
    {
    }
    __host__ __device__ virtual float area() const = 0;
};

class circle : public shape
{
    float radius;

  public:
    __host__ __device__ explicit circle(float radius) : radius(radius)
    {
    }
    __host__ __device__ float area() const override
    {
        return 3.14159265f * radius * radius;
    }
};

class box : public shape
{
  protected:
    float width, height;

  public:
    __host__ __device__ box(float width, float height) : width(width), height(height)
    {
    }
    __host__ __device__ float area() const override
    {
        return width * height;
    }
};

class triangle : public box
{
  public:
    using box::box;
    __host__ __device__ float area() const override
    {
        return box::area() / 2;
    }
};

__host__ __device__ shape *make(int kind, float size)
{
    if (kind == 0)
        return new circle(size);
    return kind == 1 ? new box(size, size + 1) : new triangle(size, size + 2);
}

__global__ void make_all(shape **shapes, const float *sizes)
{
    shapes[threadIdx.x] = make(threadIdx.x % 3, sizes[threadIdx.x]);
}

__global__ void measure(shape *const *shapes, float *areas)
{
    areas[threadIdx.x] = shapes[threadIdx.x]->area();
}

__global__ void remove_all(shape **shapes)
{
    delete shapes[threadIdx.x];
}

int main()
{
    std::vector<float> sizes = random_numbers(52).floats(60), expected;
    for (int i = 0; i < 60; i++) {
        shape *one = make(i % 3, sizes[i]);
        expected.push_back(one->area());
        delete one;
    }
    on_device<float> there(sizes), areas(60);
    on_device<shape *> shapes(60);
    make_all<<<1, 60>>>(shapes, there);
    LAUNCHED();
    measure<<<1, 60>>>(shapes, areas);
    LAUNCHED();
    near(areas.read(), expected, 1e-6, "areas");
    remove_all<<<1, 60>>>(shapes);
    LAUNCHED();
    MUST(cudaDeviceSynchronize());
    return 0;
}
