/* Clusters of points by k-means: shared sums of each block, until no point changes its cluster.
 * Integers keep it exact. */
#include "program.cuh"

enum { POINTS = 1500, CLUSTERS = 5 };

struct sums {
    int x[CLUSTERS], y[CLUSTERS], count[CLUSTERS], changed;
};

__host__ __device__ int closest(int2 point, const int2 *centers)
{
    int best = 0, least = 0x7fffffff;
    for (int i = 0; i < CLUSTERS; i++) {
        int x = point.x - centers[i].x, y = point.y - centers[i].y;
        if (x * x + y * y < least) {
            least = x * x + y * y;
            best = i;
        }
    }
    return best;
}

__global__ void assign(const int2 *points, const int2 *centers, int *clusters, sums *all)
{
    __shared__ sums mine;
    for (int i = threadIdx.x; i < (int)(sizeof mine / sizeof(int)); i += blockDim.x)
        ((int *)&mine)[i] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < POINTS) {
        int cluster = closest(points[i], centers);
        atomicAdd(mine.x + cluster, points[i].x);
        atomicAdd(mine.y + cluster, points[i].y);
        atomicAdd(mine.count + cluster, 1);
        if (clusters[i] != cluster)
            mine.changed = 1;
        clusters[i] = cluster;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < (int)(sizeof mine / sizeof(int)); i += blockDim.x)
        atomicAdd((int *)all + i, ((int *)&mine)[i]);
}

static void move(std::vector<int2> &centers, const sums &of)
{
    for (int i = 0; i < CLUSTERS; i++)
        if (of.count[i] > 0)
            centers[i] = make_int2(of.x[i] / of.count[i], of.y[i] / of.count[i]);
}

int main()
{
    random_numbers random(31);
    std::vector<int2> points(POINTS);
    for (int i = 0; i < POINTS; i++)
        points[i] = make_int2(i % CLUSTERS * 1000 + (int)random.below(900),
                              i % 3 * 500 + (int)random.below(900));
    std::vector<int2> start(points.begin(), points.begin() + CLUSTERS), centers = start;
    std::vector<int> expected(POINTS, -1);
    on_device<int2> there(points), places(start);
    on_device<int> clusters(expected);
    on_device<sums> all(1);
    for (int round = 0, changed = 1; changed; round++) {
        HOLDS(round < 100);
        all.write({sums{}});
        assign<<<blocks_for(POINTS, 128), 128>>>(there, places, clusters, all);
        LAUNCHED();
        sums of = all.read()[0];
        move(centers, of);
        places.write(centers);
        changed = of.changed;
    }
    centers = start;
    for (bool changed = true; changed;) {
        sums of{};
        for (int i = 0; i < POINTS; i++) {
            int cluster = closest(points[i], centers.data());
            of.changed |= cluster != expected[i];
            expected[i] = cluster;
            of.x[cluster] += points[i].x;
            of.y[cluster] += points[i].y;
            of.count[cluster]++;
        }
        move(centers, of);
        changed = of.changed;
    }
    same(clusters.read(), expected, "clusters");
    return 0;
}
