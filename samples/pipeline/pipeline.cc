/*
 * The pipeline in C++: the same job as main.c, source.c and worker.c beside this file, by guards
 * and exceptions. Chunks of a file go through the devices, by threads that switch devices for each
 * chunk, and what comes back must be what went in.
 *
 *   c++ -std=c++17 pipeline.cc $(pkg-config --cflags --libs ctxrt) -lz -pthread && ./a.out FILE
 */
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctxrt/ctxrt.hpp>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
#include <zlib.h>

namespace
{

constexpr int devices = 4, threads = 8;
constexpr std::size_t chunk_bytes = 64 << 10;

struct totals {
    std::array<std::uint64_t, 256> histogram{};
    std::uint64_t bytes = 0;
    unsigned long crc = 0;

    void add(const unsigned char *from, std::size_t count)
    {
        for (std::size_t i = 0; i < count; i++)
            histogram[from[i]]++;
        crc = crc32(crc, from, static_cast<unsigned int>(count));
        bytes += count;
    }

    bool operator==(const totals &other) const
    {
        return histogram == other.histogram && bytes == other.bytes && crc == other.crc;
    }
};

/* The file, read in chunks by several threads, and the plain pass over it. */
class source
{
  public:
    explicit source(const char *name) : file_(name, std::ios::binary)
    {
        if (!file_)
            throw std::runtime_error(std::string("cannot read ") + name);
    }

    /* The bytes of the next chunk, and its number; 0 at the end. */
    std::size_t read(unsigned char *buffer, std::size_t &number)
    {
        const std::lock_guard<std::mutex> guard(lock_);
        file_.read(reinterpret_cast<char *>(buffer), static_cast<std::streamsize>(chunk_bytes));
        const auto count = static_cast<std::size_t>(file_.gcount());
        plain.add(buffer, count);
        number = next_++;
        return count;
    }

    totals plain;

  private:
    std::mutex lock_;
    std::ifstream file_;
    std::size_t next_ = 0;
};

/* What came back: chunks in any order, whose checksums become that of the file. */
class sink
{
  public:
    void keep(std::size_t number, const totals &chunk)
    {
        const std::lock_guard<std::mutex> guard(lock_);
        chunks_[number] = chunk;
    }

    totals whole() const
    {
        totals all;
        for (const auto &[number, chunk] : chunks_) {
            all.crc = crc32_combine(all.crc, chunk.crc, static_cast<z_off_t>(chunk.bytes));
            all.bytes += chunk.bytes;
            for (std::size_t i = 0; i < 256; i++)
                all.histogram[i] += chunk.histogram[i];
        }
        return all;
    }

    std::size_t size() const
    {
        return chunks_.size();
    }

  private:
    std::mutex lock_;
    std::map<std::size_t, totals> chunks_;
};

/*
 * Sends one chunk to the first device, over to the second, and back to the host. The scopes end
 * with the block, on every path; the memory and the events do, too.
 */
totals pass(ctxrt::device first, ctxrt::device second, const ctxrt::memory &in,
            const ctxrt::memory &out, std::size_t bytes)
{
    totals found;
    auto examine = [&] { found.add(out.as<unsigned char>(), bytes); };
    const ctxrt::scope outer(first);
    const ctxrt::memory on_first(bytes);
    const ctxrt::event over(CTXRT_EVENT_DISABLE_TIMING);
    const ctxrt::scope inner(second);
    const ctxrt::memory on_second(bytes);
    {
        const ctxrt::scope again(first);
        ctxrt::copy_async(on_first.pointer(), in.pointer(), bytes, CTXRT_COPY_HOST_TO_DEVICE);
        ctxrt::copy_peer(on_second.pointer(), second, on_first.pointer(), first, bytes);
        ctxrt::record(over);
    }
    ctxrt::wait(over);
    ctxrt::copy_async(out.pointer(), on_second.pointer(), bytes, CTXRT_COPY_DEVICE_TO_HOST);
    ctxrt::host_function(examine);
    ctxrt::synchronize();
    return found;
}

void work(int number, source &from, sink &to)
{
    const ctxrt::scope home(ctxrt::cuda(number % devices)); /* pinned memory needs some context */
    const ctxrt::memory in = ctxrt::memory::pinned(chunk_bytes);
    const ctxrt::memory out = ctxrt::memory::pinned(chunk_bytes);
    std::size_t chunk;
    while (const std::size_t bytes = from.read(in.as<unsigned char>(), chunk)) {
        const int first = static_cast<int>(chunk % devices);
        to.keep(chunk,
                pass(ctxrt::cuda(first), ctxrt::cuda((first + 1) % devices), in, out, bytes));
    }
}

/* Every thread's first exception, which std::thread does not pass on. */
void run(source &from, sink &to)
{
    std::vector<std::thread> workers;
    std::array<std::exception_ptr, threads> thrown{};
    for (int i = 0; i < threads; i++)
        workers.emplace_back([&, i] {
            try {
                work(i, from, to);
            } catch (...) {
                thrown[static_cast<std::size_t>(i)] = std::current_exception();
            }
        });
    for (std::thread &worker : workers)
        worker.join();
    for (const std::exception_ptr &each : thrown)
        if (each)
            std::rethrow_exception(each);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::cerr << "usage: pipeline_cxx FILE\n";
        return 2;
    }
    try {
        source from(argv[1]);
        sink to;
        run(from, to);
        const totals back = to.whole();
        std::printf("%llu bytes in %zu chunks by %d threads\n",
                    static_cast<unsigned long long>(back.bytes), to.size(), threads);
        std::printf("through the devices: crc32 %08lx\n%s\n", back.crc,
                    back == from.plain ? "the same bytes, the same histogram" : "THEY DIFFER");
        ctxrt::shutdown();
        return back == from.plain ? 0 : 1;
    } catch (const std::exception &failed) {
        std::cerr << "pipeline_cxx: " << failed.what() << '\n';
        return 1;
    }
}
