/* Persistent blocks that take work from a queue until it is empty; work makes more work (an
 * adaptive integral). */
#include "program.cuh"

struct piece {
    double from, to;
};

struct queue {
    unsigned next, end, open;
    double sum;
    piece pieces[4096];
};

__host__ __device__ double height(double x)
{
    return 1 / (0.01 + (x - 0.3) * (x - 0.3)) + x;
}

__host__ __device__ double simpson(piece of)
{
    return (of.to - of.from) / 6 *
           (height(of.from) + 4 * height((of.from + of.to) / 2) + height(of.to));
}

__device__ void add(queue *all, piece one)
{
    unsigned place = atomicAdd(&all->end, 1);
    atomicExch((unsigned long long *)&all->pieces[place].from,
               (unsigned long long)__double_as_longlong(one.from));
    __threadfence();
    /* The upper bound, which is never 0, tells that the piece is there. */
    atomicExch((unsigned long long *)&all->pieces[place].to,
               (unsigned long long)__double_as_longlong(one.to));
}

__global__ void integrate(queue *all, double tolerance)
{
    while (atomicAdd(&all->open, 0) > 0) {
        unsigned place = atomicAdd(&all->next, 1);
        double to = 0;
        while (to == 0 && atomicAdd(&all->open, 0) > 0)
            to = __longlong_as_double(
                (long long)atomicAdd((unsigned long long *)&all->pieces[place].to, 0ull));
        if (to == 0)
            return;
        __threadfence();
        piece one = {__longlong_as_double((long long)atomicAdd(
                         (unsigned long long *)&all->pieces[place].from, 0ull)),
                     to};
        double middle = (one.from + one.to) / 2;
        piece left = {one.from, middle}, right = {middle, one.to};
        double fine = simpson(left) + simpson(right);
        if (fabs(fine - simpson(one)) < tolerance * (one.to - one.from)) {
            atomicAdd(&all->sum, fine);
        } else {
            atomicAdd(&all->open, 2u);
            add(all, left);
            add(all, right);
        }
        atomicSub(&all->open, 1u);
    }
}

int main()
{
    std::vector<queue> start(1);
    start[0].end = start[0].open = 1;
    start[0].pieces[0] = {0.0, 1.0};
    on_device<queue> all(start);
    integrate<<<8, 1>>>(all, 1e-7);
    LAUNCHED();
    queue end = all.read()[0];
    HOLDS(end.open == 0 && end.end > 30);
    near<double>({end.sum}, {10 * (atan(7) + atan(3)) + 0.5}, 1e-6, "integral");
    return 0;
}
