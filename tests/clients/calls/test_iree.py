"""IREE's compiler and CUDA driver: programs of tensors in half, single and mixed precision, beside numpy."""
import iree.compiler
import iree.runtime
import numpy as np
import pytest

# Without and with tensor cores: the compiler does not end well for those of sm_75, and knows no sm_90.
TARGETS = ["sm_60", "sm_80", "sm_89"]


def module(text, target="sm_80"):
    code = iree.compiler.compile_str(text, target_backends=["cuda"], extra_args=["--iree-cuda-target=" + target])
    context = iree.runtime.SystemContext(config=iree.runtime.Config("cuda"))
    context.add_vm_module(iree.runtime.VmModule.copy_buffer(context.instance, code))
    return context.modules.module


def product(m, k, n, kind, sum_kind, zero):
    return f"""
    func.func @run(%a: tensor<{m}x{k}x{kind}>, %b: tensor<{k}x{n}x{kind}>) -> tensor<{m}x{n}x{sum_kind}> {{
      %zero = arith.constant {zero} : {sum_kind}
      %empty = tensor.empty() : tensor<{m}x{n}x{sum_kind}>
      %first = linalg.fill ins(%zero : {sum_kind}) outs(%empty : tensor<{m}x{n}x{sum_kind}>) -> tensor<{m}x{n}x{sum_kind}>
      %sum = linalg.matmul ins(%a, %b : tensor<{m}x{k}x{kind}>, tensor<{k}x{n}x{kind}>)
        outs(%first : tensor<{m}x{n}x{sum_kind}>) -> tensor<{m}x{n}x{sum_kind}>
      return %sum : tensor<{m}x{n}x{sum_kind}>
    }}"""


def integers(shape, kind, limit):
    """Small integers: sums of their products are exact, in whatever order they are made."""
    return np.random.default_rng(sum(shape)).integers(-limit, limit + 1, shape).astype(kind)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("size", [(16, 16, 16), (64, 32, 48), (128, 256, 128), (7, 5, 9)])
def test_halves_summed_in_single_precision(size, target):
    m, k, n = size
    a, b = integers((m, k), np.float16, 8), integers((k, n), np.float16, 8)
    found = module(product(m, k, n, "f16", "f32", "0.0"), target)["run"](a, b).to_host()
    assert np.array_equal(found, a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("size", [(16, 16, 16), (64, 32, 48), (7, 5, 9)])
def test_halves_summed_in_halves(size, target):
    m, k, n = size
    a, b = integers((m, k), np.float16, 4), integers((k, n), np.float16, 4)
    found = module(product(m, k, n, "f16", "f16", "0.0"), target)["run"](a, b).to_host()
    assert found.dtype == np.float16
    assert np.array_equal(found.astype(np.float32), a.astype(np.float32) @ b.astype(np.float32))


def test_single_precision():
    a, b = integers((64, 128), np.float32, 100), integers((128, 32), np.float32, 100)
    assert np.array_equal(module(product(64, 128, 32, "f32", "f32", "0.0"))["run"](a, b).to_host(), a @ b)


def test_bytes():
    a, b = integers((64, 128), np.int8, 127), integers((128, 32), np.int8, 127)
    found = module(product(64, 128, 32, "i8", "i32", "0"))["run"](a, b).to_host()
    assert np.array_equal(found, a.astype(np.int32) @ b.astype(np.int32))


def test_softmax_of_halves():
    text = """
    func.func @run(%a: tensor<32x100xf16>) -> tensor<32x100xf16> {
      %empty = tensor.empty() : tensor<32x100xf16>
      %found = linalg.softmax dimension(1) ins(%a : tensor<32x100xf16>) outs(%empty : tensor<32x100xf16>)
        -> tensor<32x100xf16>
      return %found : tensor<32x100xf16>
    }"""
    a = np.random.default_rng(1).normal(size=(32, 100)).astype(np.float16)
    wide = np.exp(a.astype(np.float64) - a.max(axis=1, keepdims=True))
    wide /= wide.sum(axis=1, keepdims=True)
    found = module(text)["run"](a).to_host()
    assert np.abs(found - wide).max() < 1e-3


def test_convolution_of_halves():
    text = """
    func.func @run(%image: tensor<1x18x18x4xf16>, %filter: tensor<3x3x4x8xf16>) -> tensor<1x16x16x8xf32> {
      %zero = arith.constant 0.0 : f32
      %empty = tensor.empty() : tensor<1x16x16x8xf32>
      %first = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x16x16x8xf32>) -> tensor<1x16x16x8xf32>
      %found = linalg.conv_2d_nhwc_hwcf ins(%image, %filter : tensor<1x18x18x4xf16>, tensor<3x3x4x8xf16>)
        outs(%first : tensor<1x16x16x8xf32>) -> tensor<1x16x16x8xf32>
      return %found : tensor<1x16x16x8xf32>
    }"""
    image, kernel = integers((1, 18, 18, 4), np.float16, 8), integers((3, 3, 4, 8), np.float16, 8)
    wanted = np.zeros((1, 16, 16, 8), np.float32)
    for y in range(3):
        for x in range(3):
            wanted += np.einsum("bhwc,cf->bhwf", image[:, y:y + 16, x:x + 16].astype(np.float32),
                                kernel[y, x].astype(np.float32))
    assert np.array_equal(module(text)["run"](image, kernel).to_host(), wanted)


def test_elements_of_a_size_known_at_run_time():
    text = """
    func.func @run(%a: tensor<?xf16>, %b: tensor<?xf16>) -> tensor<?xf16> {
      %c0 = arith.constant 0 : index
      %count = tensor.dim %a, %c0 : tensor<?xf16>
      %empty = tensor.empty(%count) : tensor<?xf16>
      %found = linalg.generic {
          indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]}
        ins(%a, %b : tensor<?xf16>, tensor<?xf16>) outs(%empty : tensor<?xf16>) {
      ^bb0(%x: f16, %y: f16, %unused: f16):
        %sum = arith.addf %x, %y : f16
        linalg.yield %sum : f16
      } -> tensor<?xf16>
      return %found : tensor<?xf16>
    }"""
    run = module(text)["run"]
    for count in (1, 31, 1000):
        a = np.random.default_rng(count).normal(size=count).astype(np.float16)
        assert np.array_equal(run(a, a[::-1].copy()).to_host(), a + a[::-1])
