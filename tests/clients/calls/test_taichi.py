"""Taichi's kernels on CUDA, compared with numpy."""
import numpy
import pytest


@pytest.fixture
def ti():
    import taichi

    taichi.init(arch=taichi.cuda, log_level=taichi.ERROR, offline_cache=False, device_memory_GB=0.5)
    assert taichi.lang.impl.current_cfg().arch == taichi.cuda
    yield taichi
    taichi.reset()


def test_elements(ti):
    x = ti.field(ti.f32, 1000)

    @ti.kernel
    def fill():
        for i in x:
            x[i] = ti.sin(i * 0.01) + ti.sqrt(ti.cast(i, ti.f32))

    fill()
    i = numpy.arange(1000, dtype=numpy.float32)
    numpy.testing.assert_allclose(x.to_numpy(), numpy.sin(i * numpy.float32(.01)) + numpy.sqrt(i), rtol=1e-5, atol=1e-5)


def test_sum(ti):
    x = ti.field(ti.i32, 5000)

    @ti.kernel
    def total() -> ti.i32:
        s = 0
        for i in x:
            x[i] = i
            s += i
        return s

    assert total() == 5000 * 4999 // 2


def test_matrix(ti):
    n = 48
    a, b, c = (ti.field(ti.f32, (n, n)) for _ in range(3))
    left, right = (numpy.random.default_rng(k).standard_normal((n, n)).astype(numpy.float32) for k in (1, 2))
    a.from_numpy(left)
    b.from_numpy(right)

    @ti.kernel
    def product():
        for i, j in c:
            s = 0.0
            for k in range(n):
                s += a[i, k] * b[k, j]
            c[i, j] = s

    product()
    numpy.testing.assert_allclose(c.to_numpy(), left @ right, rtol=1e-4, atol=1e-4)


def test_vectors(ti):
    v = ti.Vector.field(3, ti.f32, 100)

    @ti.kernel
    def turn():
        for i in v:
            v[i] = ti.Vector([1.0, 2.0, i]).cross(ti.Vector([0.0, 1.0, 0.0]))

    turn()
    i = numpy.arange(100)
    expected = numpy.cross(numpy.stack([numpy.ones(100), numpy.full(100, 2.), i], 1), [0., 1., 0.])
    numpy.testing.assert_allclose(v.to_numpy(), expected)


def test_atomic(ti):
    bins = ti.field(ti.i32, 16)

    @ti.kernel
    def count():
        for i in range(10000):
            bins[i % 16] += 1

    count()
    assert (bins.to_numpy() == 625).all()


def test_sparse(ti):
    x = ti.field(ti.i32)
    block = ti.root.pointer(ti.i, 16)
    block.dense(ti.i, 16).place(x)

    @ti.kernel
    def fill():
        for i in range(4):
            x[i * 64] = 1

    @ti.kernel
    def active() -> ti.i32:
        s = 0
        for i in x:
            s += 1
        return s

    fill()
    assert active() == 4 * 16


def test_derivative(ti):
    x = ti.field(ti.f32, 8, needs_grad=True)
    loss = ti.field(ti.f32, (), needs_grad=True)

    @ti.kernel
    def square():
        for i in x:
            loss[None] += x[i] ** 2

    x.from_numpy(numpy.arange(8, dtype=numpy.float32))
    with ti.ad.Tape(loss):
        square()
    numpy.testing.assert_allclose(x.grad.to_numpy(), 2 * numpy.arange(8))
