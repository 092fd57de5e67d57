"""tinygrad on the device CUDA, by each of its writers of kernels, compared with numpy."""
import numpy
import pytest

RENDERERS = ["CUDA", "CUDA:PTX"]


@pytest.fixture(params=RENDERERS)
def tensor(request, monkeypatch):
    from tinygrad import Context, Device, Tensor

    with Context(DEV=request.param):
        assert Device.DEFAULT == "CUDA"
        yield Tensor


def numbers(*shape):
    return numpy.random.default_rng(1).standard_normal(shape).astype(numpy.float32)


def close(found, expected, tolerance=1e-4):
    numpy.testing.assert_allclose(found.numpy(), expected, rtol=tolerance, atol=tolerance)


def test_product(tensor):
    a, b = numbers(64, 96), numbers(96, 32)
    close(tensor(a) @ tensor(b), a @ b)


def test_product_of_halves(tensor):
    a = numbers(64, 64).astype(numpy.float16)
    close(tensor(a).matmul(tensor(a), dtype="float32"), a.astype(numpy.float32) @ a.astype(numpy.float32), 1e-2)


def test_elements(tensor):
    a = numbers(1000)
    close((tensor(a).exp() + tensor(a).sin() * 2).relu(), numpy.maximum(numpy.exp(a) + 2 * numpy.sin(a), 0))


def test_sums(tensor):
    a = numbers(37, 53)
    close(tensor(a).sum(0), a.sum(0))
    close(tensor(a).max(1), a.max(1))
    e = numpy.exp(a - a.max(1, keepdims=True))
    close(tensor(a).softmax(1), e / e.sum(1, keepdims=True))


def test_integers(tensor):
    a = numpy.arange(-50, 50, dtype=numpy.int32)
    assert ((tensor(a) * 3 // 7).numpy() == a * 3 // 7).all()
    assert (tensor(a).cumsum().numpy() == a.cumsum()).all()


def test_convolution(tensor):
    a, kernel = numbers(1, 3, 12, 12), numbers(4, 3, 3, 3)
    expected = numpy.zeros((1, 4, 10, 10), numpy.float32)
    for y in range(10):
        for x in range(10):
            expected[0, :, y, x] = (a[0, None, :, y:y + 3, x:x + 3] * kernel).sum((1, 2, 3))
    close(tensor(a).conv2d(tensor(kernel)), expected)


def test_derivative(tensor):
    a, b = numbers(8, 8), numbers(8, 8)
    x = tensor(a).requires_grad_() if hasattr(tensor, "requires_grad_") else tensor(a)
    (x @ tensor(b)).square().sum().backward()
    close(x.grad, 2 * (a @ b) @ b.T)


def test_order(tensor):
    a = numbers(100)
    close(tensor(a).sort()[0], numpy.sort(a))
