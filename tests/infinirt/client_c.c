/*
 * A C program that knows infinirt.h and nothing else: on every device of every type, 2^10 to 2^24
 * floats (or 2^argument) go to the device, from there to other memory of the device, and back, and
 * must be equal; then eight threads do a little of it on all devices by turns. Prints how many
 * devices it used; exits with 1 after a line about what went wrong.
 */
#include "layout.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALLEST = 10, THREADS = 8, ROUNDS = 25, DEVICES_MAX = 64 };

typedef struct device {
    infiniDevice_t type;
    int index;
} device;

static device devices[DEVICES_MAX];
static int device_count;

static void need(infiniStatus_t status, const char *call)
{
    if (status == INFINI_STATUS_SUCCESS)
        return;
    printf("%s gave %d\n", call, (int)status);
    exit(1);
}
#define NEED(call) need(call, #call)

static void find_devices(void)
{
    int counts[INFINI_DEVICE_TYPE_COUNT];
    NEED(infinirtInit());
    NEED(infinirtGetAllDeviceCount(counts));
    for (int type = 0; type < INFINI_DEVICE_TYPE_COUNT; type++) {
        int count = -1;
        NEED(infinirtGetDeviceCount((infiniDevice_t)type, &count));
        if (count != counts[type])
            NEED(INFINI_STATUS_INTERNAL_ERROR);
        for (int i = 0; i < count && device_count < DEVICES_MAX; i++)
            devices[device_count++] = (device){(infiniDevice_t)type, i};
    }
}

static void check_equal(const float *sent, const float *returned, size_t count, device on)
{
    if (memcmp(sent, returned, count * sizeof *sent) == 0)
        return;
    printf("%zu floats came back changed from device %d:%d\n", count, (int)on.type, on.index);
    exit(1);
}

/* Two pieces of memory of the device, and floats to send. */
typedef struct load {
    device on;
    void *first, *second;
    const float *sent;
    float *returned;
} load;

static load make_load(device on, const float *sent, float *returned, size_t most)
{
    load made = {on, NULL, NULL, sent, returned};
    NEED(infinirtMalloc(&made.first, most * sizeof *sent));
    NEED(infinirtMalloc(&made.second, most * sizeof *sent));
    return made;
}

static void free_load(const load *self)
{
    NEED(infinirtFree(self->second));
    NEED(infinirtFree(self->first));
}

static void send_and_wait(const load *self, size_t count)
{
    size_t bytes = count * sizeof *self->sent;
    memset(self->returned, 0, bytes);
    NEED(infinirtMemcpy(self->first, self->sent, bytes, INFINIRT_MEMCPY_H2D));
    NEED(infinirtMemcpy(self->second, self->first, bytes, INFINIRT_MEMCPY_D2D));
    NEED(infinirtMemcpy(self->returned, self->second, bytes, INFINIRT_MEMCPY_D2H));
    check_equal(self->sent, self->returned, count, self->on);
}

static void send_in_stream(const load *self, size_t count, infinirtStream_t stream)
{
    size_t bytes = count * sizeof *self->sent;
    memset(self->returned, 0, bytes);
    NEED(infinirtMemcpyAsync(self->first, self->sent, bytes, INFINIRT_MEMCPY_H2D, stream));
    NEED(infinirtMemcpyAsync(self->second, self->first, bytes, INFINIRT_MEMCPY_D2D, stream));
    NEED(infinirtMemcpyAsync(self->returned, self->second, bytes, INFINIRT_MEMCPY_D2H, stream));
    NEED(infinirtStreamSynchronize(stream));
    check_equal(self->sent, self->returned, count, self->on);
}

static void send_every_size(device on, const float *sent, float *returned, int largest)
{
    NEED(infinirtSetDevice(on.type, on.index));
    load all = make_load(on, sent, returned, (size_t)1 << largest);
    for (int size = SMALLEST; size <= largest; size++)
        send_and_wait(&all, (size_t)1 << size);
    free_load(&all);
}

static void send_on_every_device(int largest)
{
    size_t most = (size_t)1 << largest;
    float *sent = malloc(most * sizeof *sent), *returned = malloc(most * sizeof *returned);
    if (sent == NULL || returned == NULL)
        NEED(INFINI_STATUS_INTERNAL_ERROR);
    for (size_t i = 0; i < most; i++)
        sent[i] = (float)i * 0.5f;
    for (int i = 0; i < device_count; i++)
        send_every_size(devices[i], sent, returned, largest);
    free(returned);
    free(sent);
}

/* ---- threads ---- */

static void expect_device(device expected)
{
    infiniDevice_t type;
    int index;
    NEED(infinirtGetDevice(&type, &index));
    if (type != expected.type || index != expected.index) {
        printf("the device is %d:%d, not %d:%d\n", (int)type, index, (int)expected.type,
               expected.index);
        exit(1);
    }
}

static void visit(device on, const float *sent, float *returned, size_t count)
{
    infinirtStream_t stream;
    NEED(infinirtSetDevice(on.type, on.index));
    NEED(infinirtStreamCreate(&stream));
    if (infinirtSetDevice(INFINI_DEVICE_CPU, 99) != INFINI_STATUS_DEVICE_NOT_FOUND)
        NEED(INFINI_STATUS_INTERNAL_ERROR);
    expect_device(on);
    load small = make_load(on, sent, returned, count);
    send_in_stream(&small, count, stream);
    free_load(&small);
    expect_device(on);
    NEED(infinirtStreamDestroy(stream));
}

static void *switch_devices(void *argument)
{
    enum { COUNT = 1 << 10 };
    float sent[COUNT], returned[COUNT];
    int self = *(int *)argument;
    expect_device((device){INFINI_DEVICE_CPU, 0});
    for (int i = 0; i < COUNT; i++)
        sent[i] = (float)(self * COUNT + i);
    for (int i = 0; i < ROUNDS; i++)
        visit(devices[(self + i) % device_count], sent, returned, COUNT);
    return NULL;
}

static void switch_on_threads(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, switch_devices, &numbers[i]) != 0)
            NEED(INFINI_STATUS_INTERNAL_ERROR);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    find_devices();
    send_on_every_device(argc > 1 ? atoi(argv[1]) : 24);
    switch_on_threads();
    printf("%d devices\n", device_count);
    return 0;
}
