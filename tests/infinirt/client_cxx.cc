/*
 * The same as a C++17 program in its own manner: memory, streams and events behind handles that
 * give them back, failures as exceptions. Events order two streams of each device instead of one
 * stream doing it all.
 */
#include "layout.h"

#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

void need(infiniStatus_t status, const char *call)
{
    if (status != INFINI_STATUS_SUCCESS)
        throw std::runtime_error(std::string(call) + " gave " + std::to_string(status));
}
#define NEED(call) need(call, #call)

using Device = std::pair<infiniDevice_t, int>;

template <infiniStatus_t (*give_back)(void *)> struct GiveBack {
    void operator()(void *handle) const
    {
        if (give_back(handle) != INFINI_STATUS_SUCCESS)
            std::terminate();
    }
};
using Memory = std::unique_ptr<void, GiveBack<infinirtFree>>;
using HostMemory = std::unique_ptr<void, GiveBack<infinirtFreeHost>>;
using Stream = std::unique_ptr<void, GiveBack<infinirtStreamDestroy>>;
using Event = std::unique_ptr<void, GiveBack<infinirtEventDestroy>>;

Memory make_memory(std::size_t bytes)
{
    void *pointer = nullptr;
    NEED(infinirtMalloc(&pointer, bytes));
    return Memory(pointer);
}

HostMemory make_host_memory(std::size_t bytes)
{
    void *pointer = nullptr;
    NEED(infinirtMallocHost(&pointer, bytes));
    return HostMemory(pointer);
}

Stream make_stream()
{
    infinirtStream_t stream = nullptr;
    NEED(infinirtStreamCreate(&stream));
    return Stream(stream);
}

Event make_event()
{
    infinirtEvent_t event = nullptr;
    NEED(infinirtEventCreateWithFlags(&event, INFINIRT_EVENT_DISABLE_TIMING));
    return Event(event);
}

std::vector<Device> find_devices()
{
    std::vector<int> counts(INFINI_DEVICE_TYPE_COUNT, -1);
    std::vector<Device> devices;
    NEED(infinirtGetAllDeviceCount(counts.data()));
    for (int type = 0; type < INFINI_DEVICE_TYPE_COUNT; type++)
        for (int index = 0; index < counts[type]; index++)
            devices.emplace_back(static_cast<infiniDevice_t>(type), index);
    return devices;
}

void expect_device(const Device &expected)
{
    Device device;
    NEED(infinirtGetDevice(&device.first, &device.second));
    if (device != expected)
        throw std::runtime_error("another device is set");
}

/* One stream takes floats to a device and over to other memory, the other brings them back. */
class Load {
public:
    explicit Load(std::size_t most)
        : sent(make_host_memory(most * sizeof(float))),
          returned(make_host_memory(most * sizeof(float))),
          near(make_memory(most * sizeof(float))), far(make_memory(most * sizeof(float))),
          there(make_stream()), back(make_stream()), arrived(make_event())
    {
    }

    void send(std::size_t count, float first)
    {
        const std::size_t bytes = count * sizeof(float);
        float *floats = static_cast<float *>(sent.get());
        for (std::size_t i = 0; i < count; i++)
            floats[i] = first + static_cast<float>(i);
        NEED(infinirtMemcpyAsync(near.get(), floats, bytes, INFINIRT_MEMCPY_H2D, there.get()));
        NEED(infinirtMemcpyAsync(far.get(), near.get(), bytes, INFINIRT_MEMCPY_D2D, there.get()));
        NEED(infinirtEventRecord(arrived.get(), there.get()));
        NEED(infinirtStreamWaitEvent(back.get(), arrived.get()));
        NEED(infinirtMemcpyAsync(returned.get(), far.get(), bytes, INFINIRT_MEMCPY_D2H,
                                 back.get()));
        NEED(infinirtStreamSynchronize(back.get()));
        for (std::size_t i = 0; i < count; i++)
            if (static_cast<float *>(returned.get())[i] != floats[i])
                throw std::runtime_error("float " + std::to_string(i) + " came back changed");
    }

private:
    HostMemory sent, returned;
    Memory near, far;
    Stream there, back;
    Event arrived;
};

void switch_devices(const std::vector<Device> &devices, std::size_t self)
{
    constexpr std::size_t rounds = 25;
    expect_device({INFINI_DEVICE_CPU, 0});
    for (std::size_t i = 0; i < rounds; i++) {
        const Device &device = devices[(self + i) % devices.size()];
        NEED(infinirtSetDevice(device.first, device.second));
        Load(1000 + self).send(1000 + self, static_cast<float>(self));
        expect_device(device);
    }
}

void switch_on_threads(const std::vector<Device> &devices)
{
    std::vector<std::thread> threads;
    std::mutex lock;
    std::exception_ptr failure;
    for (std::size_t self = 0; self < 8; self++)
        threads.emplace_back([&, self] {
            try {
                switch_devices(devices, self);
            } catch (...) {
                std::lock_guard<std::mutex> held(lock);
                failure = std::current_exception();
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    if (failure)
        std::rethrow_exception(failure);
}

} // namespace

int main(int argc, char **argv)
{
    const int largest = argc > 1 ? std::atoi(argv[1]) : 24;
    try {
        const std::vector<Device> devices = find_devices();
        for (const Device &device : devices) {
            NEED(infinirtSetDevice(device.first, device.second));
            Load load(std::size_t(1) << largest);
            for (int size = 10; size <= largest; size++)
                load.send(std::size_t(1) << size, static_cast<float>(size));
        }
        switch_on_threads(devices);
        std::cout << devices.size() << " devices\n";
        return 0;
    } catch (const std::exception &error) {
        std::cout << error.what() << "\n";
        return 1;
    }
}
