"""Dr.Jit's CUDA backend, compared with numpy."""
import numpy
import pytest


@pytest.fixture
def dr():
    import drjit

    return drjit


@pytest.fixture
def types(dr):
    import drjit.cuda.ad

    return drjit.cuda.ad


def close(found, expected, tolerance=1e-5):
    numpy.testing.assert_allclose(numpy.array(found), expected, rtol=tolerance, atol=tolerance)


def test_elements(dr, types):
    x = numpy.linspace(-3, 3, 1000, dtype=numpy.float32)
    v = types.Float(x)
    close(dr.sin(v) * dr.exp(v) + dr.rsqrt(dr.abs(v) + 1), numpy.sin(x) * numpy.exp(x) + 1 / numpy.sqrt(abs(x) + 1))


def test_sums(dr, types):
    x = numpy.arange(1, 1001, dtype=numpy.uint32)
    v = types.UInt(x)
    assert dr.sum(v)[0] == x.sum() and dr.max(v)[0] == 1000
    close(dr.cumsum(v), x.cumsum())
    assert bool(dr.all(v > 0)) and not bool(dr.any(v > 1000))
    close(dr.compress(v > 990), numpy.arange(990, 1000))


def test_gather_and_scatter(dr, types):
    out = dr.zeros(types.UInt, 10)
    dr.scatter_add(out, types.UInt(1), dr.arange(types.UInt, 1000) % 10)
    close(out, numpy.full(10, 100))
    close(dr.gather(types.Float, types.Float(5, 6, 7), types.UInt(2, 0, 1)), [7, 5, 6])


def test_loop(dr, types):
    @dr.syntax
    def collatz(n):
        steps = n * 0
        while n != 1:
            n = (n // 2) * (1 - n % 2) + (3 * n + 1) * (n % 2)
            steps += 1
        return steps

    close(collatz(types.UInt(1, 6, 7, 27)), [0, 8, 16, 111])


def test_branch(dr, types):
    @dr.syntax
    def absolute(x):
        if x < 0:
            x = -x
        else:
            x = x + 1
        return x

    close(absolute(types.Float(-3, 2)), [3, 3])


def test_functions_by_address(dr, types):
    index = dr.arange(types.UInt, 9) % 3
    x = dr.arange(types.Float, 9)
    found = dr.switch(index, [lambda v: v + 1, lambda v: v * 2, lambda v: dr.sqrt(v)], x)
    n = numpy.arange(9, dtype=numpy.float32)
    close(found, numpy.select([n % 3 == 0, n % 3 == 1], [n + 1, n * 2], numpy.sqrt(n)))


def test_functions_with_data(dr, types):
    """Their parameters are registers and memory."""
    first, second = types.Float(3), types.Float(5)
    dr.make_opaque(first, second)
    found = dr.switch(dr.arange(types.UInt, 6) % 2, [lambda v: v + first, lambda v: v * second], dr.arange(types.Float, 6))
    close(found, [3, 5, 5, 15, 7, 25])


def test_derivative(dr, types):
    x = types.Float(1, 2, 3)
    dr.enable_grad(x)
    dr.backward(dr.sum(x * x * dr.sin(x)))
    n = numpy.array([1, 2, 3], numpy.float32)
    close(dr.grad(x), 2 * n * numpy.sin(n) + n * n * numpy.cos(n))


def test_texture(dr, types):
    texels = numpy.random.default_rng(1).random((4, 4, 1)).astype(numpy.float32)
    texture = types.Texture2f(types.TensorXf(texels), wrap_mode=dr.WrapMode.Clamp)
    close(texture.eval(types.Array2f([.125, .875], [.125, .375]))[0], [texels[0, 0, 0], texels[1, 3, 0]])
    middle = texture.eval(types.Array2f(.25, .125))[0]
    close(middle, [(texels[0, 0, 0] + texels[0, 1, 0]) / 2])


def test_halves(dr, types):
    x = numpy.arange(64, dtype=numpy.float16) / 8
    close(types.Float16(x) * types.Float16(3), x * 3)


def test_tensor(dr, types):
    x = numpy.arange(24, dtype=numpy.float32).reshape(2, 3, 4)
    t = types.TensorXf(x)
    close(t[1, :, ::2], x[1, :, ::2])
    close(dr.sum(t, axis=1), x.sum(1))


def test_random(dr, types):
    generator = dr.rng(seed=1)
    found = numpy.array(generator.random(types.Float, 10000))
    assert abs(found.mean() - .5) < .02 and found.min() >= 0 and found.max() < 1
