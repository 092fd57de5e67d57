"""Triton's compiler makes PTX without a GPU; its products of matrices run through the driver API."""
import ctypes
import warnings

import numpy
import pytest

warnings.simplefilter("ignore")
triton = pytest.importorskip("triton")
import triton.language as tl  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

SIZE, BLOCK = 64, 32
cuda = ctypes.CDLL("libcuda.so.1")


def must(result):
    assert result == 0, "the driver's error %d" % result


@triton.jit
def product(a_at, b_at, c_at, depth, row: tl.constexpr, block: tl.constexpr, integers: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    j = tl.program_id(1) * block + tl.arange(0, block)
    k = tl.arange(0, block)
    total = tl.zeros((block, block), dtype=tl.int32 if integers else tl.float32)
    for first in range(0, depth, block):
        a = tl.load(a_at + i[:, None] * row + (first + k)[None, :])
        b = tl.load(b_at + (first + k)[:, None] * row + j[None, :])
        total = tl.dot(a, b, total)
    tl.store(c_at + i[:, None] * row + j[None, :], total)


@triton.jit
def softmax(in_at, out_at, row: tl.constexpr):
    at = tl.program_id(0) * row + tl.arange(0, row)
    x = tl.load(in_at + at)
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_at + at, e / tl.sum(e, 0))


def compiled(kernel, capability, signature, constants):
    signature.update({name: "constexpr" for name in constants})
    source = ASTSource(kernel, signature=signature, constexprs=constants)
    return triton.compile(source, target=GPUTarget("cuda", capability, 32), options={"num_warps": 4, "ptx_version": 88})


class Device:
    def __init__(self):
        must(cuda.cuInit(0))
        self.context = ctypes.c_void_p()
        must(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(self.context), 0))
        must(cuda.cuCtxPushCurrent_v2(self.context))
        self.memory = []

    def put(self, array):
        at = ctypes.c_uint64()
        must(cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(array.nbytes)))
        must(cuda.cuMemcpyHtoD_v2(at, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes)))
        self.memory.append(at)
        return at

    def get(self, at, like):
        out = numpy.empty_like(like)
        must(cuda.cuMemcpyDtoH_v2(out.ctypes.data_as(ctypes.c_void_p), at, ctypes.c_size_t(out.nbytes)))
        return out

    def launch(self, kernel, grid, arguments):
        """Triton adds two pointers behind the arguments, for scratch memory that these kernels do without."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        ptx = kernel.asm["ptx"].encode()
        must(cuda.cuModuleLoadData(ctypes.byref(module), ptx))
        must(cuda.cuModuleGetFunction(ctypes.byref(function), module, kernel.metadata.name.encode()))
        shared = kernel.metadata.shared
        if shared > 48 << 10:
            must(cuda.cuFuncSetAttribute(function, 8, shared))
        values = list(arguments) + [ctypes.c_uint64(0)] * 2
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values])
        must(cuda.cuLaunchKernel(function, *grid, 1, 32 * kernel.metadata.num_warps, 1, 1, shared, None, pointers, None))
        must(cuda.cuCtxSynchronize())
        must(cuda.cuModuleUnload(module))

    def close(self):
        for at in self.memory:
            must(cuda.cuMemFree_v2(at))
        must(cuda.cuCtxPopCurrent_v2(ctypes.byref(self.context)))
        must(cuda.cuDevicePrimaryCtxRelease_v2(0))


@pytest.fixture
def device():
    opened = Device()
    yield opened
    opened.close()


def bits_of_bfloat16(array):
    return (array.astype(numpy.float32).view(numpy.uint32) >> 16).astype(numpy.uint16)


def factors(kind):
    """Small whole numbers, whose products and sums every kind has exactly; as a driver gets them, and as numbers."""
    random = numpy.random.default_rng(1)
    for _ in range(2):
        numbers = random.integers(-4, 5, (SIZE, SIZE))
        given = {"fp16": lambda: numbers.astype(numpy.float16), "fp32": lambda: numbers.astype(numpy.float32),
                 "i8": lambda: numbers.astype(numpy.int8), "bf16": lambda: bits_of_bfloat16(numbers),
                 "fp8e5": lambda: (numbers.astype(numpy.float16).view(numpy.uint16) >> 8).astype(numpy.uint8)}[kind]()
        yield given, numbers


@pytest.mark.parametrize("kind", ["fp16", "bf16", "fp32", "i8", "fp8e5"])
@pytest.mark.parametrize("capability", [75, 80, 86, 89, 90, 100, 120])
def test_dot(device, capability, kind):
    is_integer = kind == "i8"
    kernel = compiled(product, capability,
                      {"a_at": "*" + kind, "b_at": "*" + kind, "c_at": "*i32" if is_integer else "*fp32", "depth": "i32"},
                      {"row": SIZE, "block": BLOCK, "integers": is_integer})
    (a, a_numbers), (b, b_numbers) = factors(kind)
    c = numpy.zeros((SIZE, SIZE), numpy.int32 if is_integer else numpy.float32)
    c_at = device.put(c)
    device.launch(kernel, (SIZE // BLOCK, SIZE // BLOCK), [device.put(a), device.put(b), c_at, ctypes.c_int32(SIZE)])
    numpy.testing.assert_array_equal(device.get(c_at, c), a_numbers @ b_numbers)


@pytest.mark.parametrize("capability", [75, 80, 90])
def test_softmax(device, capability):
    kernel = compiled(softmax, capability, {"in_at": "*fp32", "out_at": "*fp32"}, {"row": 256})
    x = numpy.random.default_rng(2).standard_normal((8, 256)).astype(numpy.float32)
    e = numpy.exp(x - x.max(1, keepdims=True))
    out_at = device.put(x)
    device.launch(kernel, (8, 1), [device.put(x), out_at])
    numpy.testing.assert_allclose(device.get(out_at, x), e / e.sum(1, keepdims=True), rtol=1e-5, atol=1e-7)
