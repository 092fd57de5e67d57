# PyTorch's caching allocator beside ctxrt's, in one process and by turns: an allocation and its release, by size, as the best and the
# median of 15 rounds and the ratio of the medians. pairs.so calls both in the same loop, PyTorch's by its C interface; an older
# PyTorch, which has none, is called by Python, and so is ctxrt then.
import ctypes
import os
import statistics
import sys
import time

# Libraries that come late need room for their thread-local variables, which only a new process gets.
if "GLIBC_TUNABLES" not in os.environ:
    os.environ["GLIBC_TUNABLES"] = "glibc.rtld.optional_static_tls=65536"
    os.execv(sys.executable, [sys.executable] + (["-I"] if sys.flags.isolated else []) + sys.argv)

try:
    import torch
    torch.cuda.init()
except Exception as why:
    print("allocator_torch: not run:", str(why).splitlines()[0] if str(why) else type(why).__name__)
    sys.exit(0)

ROUNDS, COUNT = 15, 20000
here = os.path.dirname(os.path.abspath(__file__))
pairs = ctypes.CDLL(os.path.join(here, "pairs.so"))
pairs.pairs_error.restype = ctypes.c_char_p
for of in pairs.pairs_of, pairs.pairs_of_ctxrt:
    of.restype = ctypes.c_double
pairs.pairs_of.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
pairs.pairs_of_ctxrt.argtypes = [ctypes.c_size_t, ctypes.c_int]


def by_c_interface():
    """PyTorch's pairs in the loop of pairs.so; None: this PyTorch has no such functions."""
    try:
        library = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cuda.so"))
        functions = [ctypes.cast(getattr(library, "aoti_torch_cuda_caching_allocator_raw_" + name), ctypes.c_void_p)
                     for name in ("alloc", "delete")]
    except (OSError, AttributeError):
        return None
    return lambda size, count: pairs.pairs_of(functions[0], functions[1], size, count)


def by_python(allocate, release):
    def measure(size, count):
        begun = time.perf_counter_ns()
        for _ in range(count):
            release(allocate(size))
        return (time.perf_counter_ns() - begun) / count
    return measure


def main():
    if pairs.pairs_begin() != 0:
        print("allocator_torch: ctxrt:", pairs.pairs_error().decode())
        return 1
    theirs, ours = by_c_interface(), pairs.pairs_of_ctxrt
    if theirs is None:
        print("allocator_torch: PyTorch %s has no C interface of its allocator: both are called by Python" % torch.__version__)
        theirs = by_python(torch.cuda.caching_allocator_alloc, torch.cuda.caching_allocator_delete)
        one = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_size_t, ctypes.c_int)(("pairs_of_ctxrt", pairs))
        ours = by_python(lambda size: one(size, 1), lambda pair: pair)
    print("%-10s %14s %14s %14s %14s %8s" % ("bytes", "torch best ns", "median ns", "ctxrt best ns", "median ns", "ratio"))
    for size in 512, 64 << 10, 1 << 20, 64 << 20:
        results = [], []
        for turn in range(ROUNDS + 1):  # the first is to warm up
            for measure, times in zip((theirs, ours), results):
                took = measure(size, COUNT)
                if took < 0:
                    print("allocator_torch: an allocation of %d bytes failed: %s" % (size, pairs.pairs_error().decode()))
                    return 1
                if turn > 0:
                    times.append(took)
        medians = [statistics.median(times) for times in results]
        print("%-10d %14.1f %14.1f %14.1f %14.1f %8.2f" %
              (size, min(results[0]), medians[0], min(results[1]), medians[1], medians[1] / medians[0]), flush=True)
    return 0


sys.exit(main())
