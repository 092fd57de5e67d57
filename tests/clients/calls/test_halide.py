"""Pipelines that Halide compiles to PTX itself, compared with numpy."""
import halide as hl
import numpy as np
import pytest

TARGET = hl.get_host_target().with_feature(hl.TargetFeature.CUDA).with_feature(hl.TargetFeature.CUDACapability61)
x, y, block_x, block_y, thread_x, thread_y = (
    hl.Var(name) for name in ("x", "y", "block_x", "block_y", "thread_x", "thread_y"))


def picture(kind, width=64, height=48):
    return (np.arange(width * height, dtype=kind).reshape(height, width) * 7) % 251


def tiled(function, size=16):
    return function.gpu_tile(x, y, block_x, block_y, thread_x, thread_y, size, size)


def realized(function, width=64, height=48):
    return np.array(function.realize([width, height], TARGET))


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.int32, np.float32, np.float64])
def test_arithmetic(kind):
    source, function = picture(kind), hl.Func("arithmetic")
    function[x, y] = hl.Buffer(source)[x, y] * 3 + hl.cast(hl.Buffer(source).type(), x)
    expected = (source * kind(3) + np.arange(64, dtype=kind)).astype(kind)
    assert (realized(tiled(function)) == expected).all()


@pytest.mark.parametrize("size", [4, 16, 32])
def test_blocks_of_sizes(size):
    function = hl.Func("sizes")
    function[x, y] = x + 100 * y
    expected = np.arange(64)[None, :] + 100 * np.arange(48)[:, None]
    assert (realized(tiled(function, size)) == expected).all()


def test_a_tile_in_shared_memory():
    source = picture(np.int32)
    clamped = hl.BoundaryConditions.repeat_edge(hl.Buffer(source))
    across, blur = hl.Func("across"), hl.Func("blur")
    across[x, y] = clamped[x - 1, y] + clamped[x, y] + clamped[x + 1, y]
    blur[x, y] = across[x, y - 1] + across[x, y] + across[x, y + 1]
    tiled(blur)
    across.compute_at(blur, block_x).gpu_threads(x, y)
    edge = np.pad(source, 1, mode="edge")
    expected = sum(edge[j:j + 48, i:i + 64] for i in range(3) for j in range(3))
    assert (realized(blur) == expected).all()


def test_a_stage_in_device_memory():
    first, second = hl.Func("first"), hl.Func("second")
    first[x, y] = x * y
    second[x, y] = first[x, y] + first[x, y + 1]
    tiled(second)
    tiled(first.compute_root())
    column, row = np.arange(64)[None, :], np.arange(48)[:, None]
    assert (realized(second) == column * row + column * (row + 1)).all()


def test_a_sum_of_each_row():
    source, function = picture(np.int32), hl.Func("rows")
    along = hl.RDom([(0, 64)])
    function[y] = 0
    function[y] += hl.Buffer(source)[along, y]
    function.gpu_tile(y, block_y, thread_y, 16)
    function.update().gpu_tile(y, block_y, thread_y, 16)
    assert (np.array(function.realize([48], TARGET)) == source.sum(axis=1)).all()


def test_a_histogram_by_atomic_additions():
    source, counts = picture(np.int32), hl.Func("counts")
    pixels = hl.RDom([(0, 64), (0, 48)])
    counts[x] = 0
    counts[hl.clamp(hl.Buffer(source)[pixels.x, pixels.y], 0, 255)] += 1
    counts.gpu_tile(x, block_x, thread_x, 32)
    counts.update().atomic().gpu_tile(pixels.x, pixels.y, hl.RVar("bx"), hl.RVar("by"), hl.RVar("tx"), hl.RVar("ty"), 8, 8)
    assert (np.array(counts.realize([256], TARGET)) == np.bincount(source.ravel(), minlength=256)).all()


@pytest.mark.parametrize("name, function", [("sqrt", np.sqrt), ("exp", np.exp), ("sin", np.sin), ("floor", np.floor)])
def test_functions_of_float(name, function):
    source, applied = picture(np.float32) / np.float32(50), hl.Func(name)
    applied[x, y] = getattr(hl, name)(hl.Buffer(source)[x, y])
    assert np.allclose(realized(tiled(applied)), function(source), rtol=1e-5)


def test_a_choice():
    function = hl.Func("choice")
    function[x, y] = hl.select((x + y) % 2 == 0, x, -y)
    column, row = np.arange(64)[None, :], np.arange(48)[:, None]
    assert (realized(tiled(function)) == np.where((column + row) % 2 == 0, column, -row)).all()


def test_edges_that_no_tile_divides():
    function = hl.Func("edges")
    function[x, y] = x - y
    column, row = np.arange(61)[None, :], np.arange(37)[:, None]
    assert (realized(tiled(function), 61, 37) == column - row).all()


def test_one_pipeline_many_times():
    function = hl.Func("many")
    function[x, y] = x ^ y
    tiled(function).compile_jit(TARGET)
    expected = np.arange(64)[None, :] ^ np.arange(48)[:, None]
    assert all((realized(function) == expected).all() for _ in range(10))
