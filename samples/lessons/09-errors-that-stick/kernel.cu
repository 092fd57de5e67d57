/* Stores the square of its own number, and says so. */
extern "C" __global__ void square(int *numbers, int count)
{
    int i = threadIdx.x;
    if (i >= count) {
        printf("thread %d has nothing to do\n", i);
        return;
    }
    numbers[i] = i * i;
    printf("thread %d stores %d\n", i, numbers[i]);
}

/* Waits for a number that nobody stores. */
extern "C" __global__ void endless(volatile int *numbers, int count)
{
    while (numbers[count - 1] != -1) {
    }
}
