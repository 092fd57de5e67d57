# Two streams of one GPU, ordered by an event: no finding of `ctxrt check` is right here.
import numpy
from numba import cuda


@cuda.jit
def double(values):
    at = cuda.grid(1)
    if at < values.size:
        values[at] *= 2


first, second, made = cuda.stream(), cuda.stream(), cuda.event()
values = cuda.to_device(numpy.arange(1 << 16, dtype=numpy.float32), stream=first)
double[256, 256, first](values)
made.record(first)
made.wait(second)
double[256, 256, second](values)
result = values.copy_to_host(stream=second)
second.synchronize()
assert result[1234] == 4 * 1234, result[1234]
print("right")
