# Two streams of one GPU, ordered by an event: no finding of `ctxrt check` is right here.
import cupy

first, second = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
with first:
    values = cupy.arange(1 << 20, dtype=cupy.float32) * 2
    made = first.record()
second.wait_event(made)
with second:
    total = float((values / 2).sum())
assert abs(total - (2 ** 20 - 1) * 2 ** 19) < 1e6, total
first.synchronize()
second.synchronize()
print("right")
