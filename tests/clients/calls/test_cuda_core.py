"""cuda.core, called as a program calls it; kernels are compiled to PTX by NVRTC."""
import ctypes
import multiprocessing

import numpy as np
import pytest
from cuda.core import (
    Context,
    ContextOptions,
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    EventOptions,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    ManagedMemoryResource,
    ObjectCode,
    PinnedMemoryResource,
    Program,
    ProgramOptions,
    SMResourceOptions,
    Stream,
    StreamOptions,
    launch,
)
from cuda.core.graph import GraphDefinition
from cuda.core.utils import StridedMemoryView

SOURCE = """
extern "C" __global__ void add(int *numbers, int more, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        numbers[i] += more;
}
template <typename T> __global__ void scale(T *numbers, T factor) { numbers[threadIdx.x] *= factor; }
extern "C" __global__ void mirror(int *numbers)
{
    extern __shared__ int copy[];
    copy[threadIdx.x] = numbers[threadIdx.x];
    __syncthreads();
    numbers[threadIdx.x] = copy[blockDim.x - 1 - threadIdx.x];
}
"""


@pytest.fixture
def device():
    device = Device(0)
    device.set_current()
    return device


@pytest.fixture
def stream(device):
    stream = device.create_stream()
    yield stream
    stream.sync()


@pytest.fixture
def code(device):
    options = ProgramOptions(arch="sm_%s" % device.arch, std="c++17")
    return Program(SOURCE, "c++", options).compile("ptx", name_expressions=("scale<float>",))


def numbers_of(buffer, kind=np.int32):
    """The bytes of a buffer that the host reaches, as an array."""
    return np.frombuffer((ctypes.c_char * buffer.size).from_address(int(buffer.handle)), dtype=kind)


def pinned(size, stream):
    return LegacyPinnedMemoryResource().allocate(size, stream=stream)


def test_all_devices():
    assert [device.device_id for device in Device.get_all_devices()] == [0, 1, 2, 3]


def test_a_device_has_a_name_and_an_id(device):
    assert device.name and len(device.uuid) == 36


def test_the_place_of_a_device_which_cudart_tells(device):
    assert device.pci_bus_id.count(":") == 2


def test_every_property_of_a_device(device):
    names = [name for name in dir(device.properties) if not name.startswith("_")]
    values = {name: getattr(device.properties, name) for name in names}
    assert len(values) > 100 and values["warp_size"] == 32 and values["multiprocessor_count"] > 0
    assert (values["compute_capability_major"], values["compute_capability_minor"]) == tuple(device.compute_capability)


def test_set_current_makes_the_primary_context_current(device):
    first = device.context
    Device(1).set_current()
    assert Device().device_id == 1
    device.set_current()
    assert Device().device_id == 0 and device.context == first


def test_a_context_that_is_set_comes_back(device):
    context = device.context
    second = Device(1)
    second.set_current()
    previous = device.set_current(context)
    assert isinstance(previous, Context) and Device().device_id == 0


def test_peers(device):
    assert all(device.can_access_peer(peer) for peer in (1, 2, 3))


def test_streams(device):
    stream = device.create_stream(options=StreamOptions(nonblocking=False, priority=0))
    assert not stream.is_nonblocking and stream.priority == 0 and stream.device == device
    assert stream.context == device.context
    stream.sync()
    stream.close()
    assert stream.is_closed


def test_priorities(device):
    with pytest.raises(ValueError):
        device.create_stream(options=StreamOptions(priority=100))


def test_a_stream_of_other_code(device, stream):
    other = Stream.from_handle(int(stream.handle))
    assert other.handle == stream.handle or int(other.handle) == int(stream.handle)
    other.sync()


def test_the_default_stream(device):
    device.default_stream.sync()


def test_a_device_is_waited_for_which_cudart_does(device):
    device.sync()


def test_events(device, stream):
    event = stream.record(options=EventOptions(timing_enabled=True))
    later = stream.record(options=EventOptions(timing_enabled=True))
    later.sync()
    assert event.is_done and later.is_done and later - event >= 0 and event.is_timing_enabled
    assert event.device == device and event.context == device.context


def test_an_event_without_time(device, stream):
    first, second = stream.record(), stream.record()
    second.sync()
    with pytest.raises(RuntimeError):
        second - first


def test_an_event_that_sleeps(device):
    event = device.create_event(EventOptions(blocking_sync=True))
    assert event.is_blocking_sync
    device.default_stream.record(event)
    event.sync()


def test_a_stream_waits_for_an_event_and_for_a_stream(device, stream):
    other = device.create_stream()
    stream.wait(other.record())
    stream.wait(other)
    stream.sync()


def test_allocations_of_a_device(device, stream):
    buffer = device.allocate(4096, stream=stream)
    assert buffer.size == 4096 and buffer.is_device_accessible and not buffer.is_host_accessible
    assert buffer.device_id == 0
    buffer.close(stream)
    assert buffer.is_closed


def test_nothing_is_allocated_for_0_bytes(device, stream):
    buffer = device.allocate(0, stream=stream)
    assert buffer.size == 0


@pytest.mark.parametrize("value", [7, b"\x01", b"\x01\x02", b"\x01\x02\x03\x04"])
def test_fills(device, stream, value):
    buffer, host = device.allocate(64, stream=stream), pinned(64, stream)
    buffer.fill(value, stream=stream)
    buffer.copy_to(host, stream=stream)
    stream.sync()
    text = bytes([value]) if isinstance(value, int) else value
    assert numbers_of(host, np.uint8).tobytes() == text * (64 // len(text))


def test_copies_there_and_back(device, stream):
    source, target, between = pinned(400, stream), pinned(400, stream), device.allocate(400, stream=stream)
    stream.sync()
    numbers_of(source)[:] = np.arange(100)
    between.copy_from(source, stream=stream)
    target.copy_from(between, stream=stream)
    stream.sync()
    assert (numbers_of(target) == np.arange(100)).all()


def test_a_copy_into_a_buffer_of_its_own(device, stream):
    source = device.allocate(16, stream=stream)
    source.fill(3, stream=stream)
    assert source.copy_to(stream=stream).size == 16


def test_a_copy_of_another_size(device, stream):
    with pytest.raises(ValueError):
        device.allocate(16, stream=stream).copy_to(device.allocate(32, stream=stream), stream=stream)


def test_a_pool_of_ones_own(device, stream):
    pool = DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=1 << 26))
    buffer = pool.allocate(1 << 20, stream=stream)
    stream.sync()
    assert pool.attributes.used_mem_current == 1 << 20 and pool.attributes.reserved_mem_current >= 1 << 20
    buffer.close(stream)
    stream.sync()
    assert pool.attributes.used_mem_current == 0 and pool.attributes.used_mem_high == 1 << 20


def test_every_attribute_of_a_pool(device):
    pool = DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=1 << 26))
    attributes = [name for name in dir(pool.attributes) if not name.startswith("_")]
    assert len(attributes) >= 8 and all(getattr(pool.attributes, name) is not None for name in attributes)


def test_peers_of_a_pool(device):
    pool = DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=1 << 26))
    pool.peer_accessible_by = [1, 2]
    assert {int(peer) for peer in pool.peer_accessible_by} == {1, 2}
    pool.peer_accessible_by = []
    assert len(pool.peer_accessible_by) == 0


def test_a_pool_of_pinned_memory(device, stream):
    buffer = PinnedMemoryResource().allocate(64, stream=stream)
    assert buffer.is_host_accessible and buffer.is_device_accessible


def test_managed_memory(device, stream, code):
    buffer = ManagedMemoryResource().allocate(40, stream=stream)
    stream.sync()
    numbers_of(buffer)[:] = 5
    launch(stream, LaunchConfig(grid=1, block=32), code.get_kernel("add"), buffer, np.int32(1), np.int32(10))
    stream.sync()
    assert buffer.is_managed and (numbers_of(buffer) == 6).all()


def test_hints_for_managed_memory(device, stream):
    buffer = ManagedMemoryResource().allocate(1 << 16, stream=stream)
    buffer.read_mostly = True
    buffer.preferred_location = device
    buffer.accessed_by = [Device(1)]
    buffer.prefetch(device, stream=stream)
    stream.sync()
    assert buffer.read_mostly and buffer.preferred_location == device and list(buffer.accessed_by) == [Device(1)]


def test_virtual_memory(device, stream):
    from cuda.core import VirtualMemoryResource

    resource = VirtualMemoryResource(device)
    buffer = resource.allocate(1 << 20)
    buffer.fill(1, stream=stream)
    stream.sync()
    larger = resource.modify_allocation(buffer, 1 << 23)
    larger.fill(2, stream=stream)
    stream.sync()
    assert larger.size >= 1 << 23
    larger.close()


def test_a_view_of_a_buffer(device, stream):
    buffer = pinned(80, stream)
    view = StridedMemoryView.from_dlpack(buffer, stream_ptr=-1)
    assert view.ptr == int(buffer.handle) and view.is_device_accessible


def test_dlpack(device, stream):
    buffer = pinned(8, stream)
    stream.sync()
    numbers_of(buffer, np.uint8)[:] = range(8)
    assert buffer.__dlpack_device__()[1] == 0
    array = np.from_dlpack(buffer) if buffer.__dlpack_device__()[0] == 1 else numbers_of(buffer, np.uint8)
    assert list(array.view(np.uint8)) == list(range(8))


def filled(stream, count):
    buffer = pinned(4 * count, stream)
    stream.sync()
    numbers_of(buffer)[:] = np.arange(count)
    return buffer


def test_a_kernel(stream, code):
    buffer = filled(stream, 1000)
    launch(stream, LaunchConfig(grid=4, block=256), code.get_kernel("add"), buffer, np.int32(3), np.int32(1000))
    stream.sync()
    assert (numbers_of(buffer) == np.arange(1000) + 3).all()


def test_a_kernel_of_a_template(stream, code):
    buffer = filled(stream, 32)
    numbers_of(buffer, np.float32)[:] = np.arange(32)
    launch(stream, LaunchConfig(grid=1, block=32), code.get_kernel("scale<float>"), buffer, np.float32(1.5))
    stream.sync()
    assert (numbers_of(buffer, np.float32) == np.arange(32) * 1.5).all()


def test_dynamic_shared_memory(stream, code):
    buffer = filled(stream, 64)
    launch(stream, LaunchConfig(grid=1, block=64, shmem_size=256), code.get_kernel("mirror"), buffer)
    stream.sync()
    assert (numbers_of(buffer) == np.arange(64)[::-1]).all()


def test_a_cooperative_launch(stream, code):
    buffer = filled(stream, 64)
    config = LaunchConfig(grid=2, block=32, is_cooperative=True)
    launch(stream, config, code.get_kernel("add"), buffer, np.int32(1), np.int32(64))
    stream.sync()
    assert (numbers_of(buffer) == np.arange(64) + 1).all()


def test_attributes_of_a_kernel(code, device):
    attributes = code.get_kernel("add").attributes
    names = ["max_threads_per_block", "shared_size_bytes", "const_size_bytes", "local_size_bytes", "num_regs",
             "ptx_version", "binary_version", "cache_mode_ca", "max_dynamic_shared_size_bytes",
             "preferred_shared_memory_carveout"]
    values = {name: getattr(attributes, name) for name in names}
    assert values["max_threads_per_block"] == 1024 and values["num_regs"] > 0 and values["ptx_version"] > 0


def test_arguments_of_a_kernel(code):
    kernel = code.get_kernel("add")
    assert kernel.num_arguments == 3 and [row.offset for row in kernel.arguments_info] == [0, 8, 12]


def test_occupancy(code):
    occupancy = code.get_kernel("add").occupancy
    assert occupancy.max_active_blocks_per_multiprocessor(256, 0) >= 1
    assert occupancy.max_potential_block_size(0, 0).max_block_size >= 32
    assert occupancy.available_dynamic_shared_memory_per_block(1, 256) > 0


def test_no_such_kernel(code):
    with pytest.raises(Exception, match="NOT_FOUND|not found"):
        code.get_kernel("absent")


def test_ptx_from_text_and_file(code, stream, tmp_path):
    path = tmp_path / "add.ptx"
    path.write_bytes(code.code)
    for source in (code.code, str(path)):
        ObjectCode.from_ptx(source).get_kernel("add")


def test_a_program_in_ptx(code, device):
    text = code.code.decode() if isinstance(code.code, bytes) else code.code
    program = Program(text, "ptx", ProgramOptions(arch="sm_%s" % device.arch))
    assert program.compile("cubin").get_kernel("add")


def test_linked_objects(device, stream):
    options = ProgramOptions(arch="sm_%s" % device.arch, relocatable_device_code=True)
    first = Program("extern __device__ int twice(int); extern \"C\" __global__ void run(int *n) { *n = twice(*n); }",
                    "c++", options).compile("ptx")
    second = Program("__device__ int twice(int n) { return 2 * n; }", "c++", options).compile("ptx")
    linked = Linker(first, second, options=LinkerOptions(arch="sm_%s" % device.arch)).link("cubin")
    buffer = filled(stream, 1)
    numbers_of(buffer)[0] = 21
    launch(stream, LaunchConfig(grid=1, block=1), linked.get_kernel("run"), buffer)
    stream.sync()
    assert numbers_of(buffer)[0] == 42


def test_a_graph_from_a_stream(stream, code):
    buffer = filled(stream, 32)
    builder = stream.create_graph_builder().begin_building()
    config, kernel = LaunchConfig(grid=1, block=32), code.get_kernel("add")
    for _ in range(3):
        launch(builder, config, kernel, buffer, np.int32(1), np.int32(32))
    graph = builder.end_building().complete()
    graph.upload(stream)
    for _ in range(2):
        graph.launch(stream)
    stream.sync()
    assert (numbers_of(buffer) == np.arange(32) + 6).all()


def test_a_graph_with_branches(stream, code):
    buffers = [filled(stream, 32) for _ in range(3)]
    config, kernel = LaunchConfig(grid=1, block=32), code.get_kernel("add")
    builder = stream.create_graph_builder().begin_building()
    branches = builder.split(3)
    for branch, buffer in zip(branches, buffers):
        launch(branch, config, kernel, buffer, np.int32(2), np.int32(32))
    graph = type(builder).join(*branches).end_building().complete()
    graph.launch(stream)
    stream.sync()
    assert all((numbers_of(buffer) == np.arange(32) + 2).all() for buffer in buffers)


def test_a_graph_inside_a_graph(device, stream, code):
    buffer = filled(stream, 32)
    config, kernel = LaunchConfig(grid=1, block=32), code.get_kernel("add")
    child = device.create_graph_builder().begin_building()
    launch(child, config, kernel, buffer, np.int32(5), np.int32(32))
    child.end_building()
    parent = device.create_graph_builder().begin_building()
    parent.embed(child)
    graph = parent.end_building().complete()
    graph.launch(stream)
    stream.sync()
    assert (numbers_of(buffer) == np.arange(32) + 5).all()


def test_a_callback_in_a_graph(device, stream):
    called = []
    builder = device.create_graph_builder().begin_building()
    builder.callback(lambda: called.append(1))
    graph = builder.end_building().complete()
    graph.launch(stream)
    stream.sync()
    assert called == [1]


def test_a_graph_made_by_hand(stream, code):
    buffer, copy = filled(stream, 32), filled(stream, 32)
    graph = GraphDefinition()
    filling = graph.memset(buffer, 0, 128)
    adding = filling.launch(LaunchConfig(grid=1, block=32), code.get_kernel("add"), buffer, np.int32(9), np.int32(32))
    adding.memcpy(copy, buffer, 128)
    assert len(graph.nodes()) == 3 and len(graph.edges()) == 2
    graph.instantiate().launch(stream)
    stream.sync()
    assert (numbers_of(copy) == 9).all()


def test_memory_of_a_graph(stream, device):
    graph = GraphDefinition()
    memory = graph.allocate(1024)
    memory.memset(memory.dptr, 1, 1024).deallocate(memory.dptr)
    executable = graph.instantiate()
    executable.launch(stream)
    executable.launch(stream)
    stream.sync()


def test_a_condition_in_a_graph(stream, device):
    graph = GraphDefinition()
    graph.if_then(graph.create_condition(default_value=0))
    graph.instantiate().launch(stream)
    stream.sync()


def test_a_picture_of_a_graph(device, tmp_path):
    graph = GraphDefinition()
    graph.empty()
    graph.debug_dot_print(str(tmp_path / "graph.dot"))
    assert "digraph" in (tmp_path / "graph.dot").read_text()


def test_an_update_of_a_graph(stream, code):
    buffer = filled(stream, 32)
    config, kernel = LaunchConfig(grid=1, block=32), code.get_kernel("add")

    def built(more):
        graph = GraphDefinition()
        graph.launch(config, kernel, buffer, np.int32(more), np.int32(32))
        return graph

    executable = built(1).instantiate()
    executable.update(built(10))
    executable.launch(stream)
    stream.sync()
    assert (numbers_of(buffer) == np.arange(32) + 10).all()


def test_resources_of_a_device(device):
    resource = device.resources.sm
    assert resource.sm_count == device.properties.multiprocessor_count


def test_a_green_context(device):
    groups, rest = device.resources.sm.split(SMResourceOptions(count=8))
    assert groups[0].sm_count >= 8
    context = device.create_context(ContextOptions(resources=groups))
    assert context.is_green and context.resources.sm.sm_count == groups[0].sm_count
    stream = context.create_stream()
    stream.sync()
    stream.close()
    context.close()


def send_back(connection, pool_handle, descriptor):
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    from cuda.core import Buffer

    pool = DeviceMemoryResource.from_allocation_handle(device, pool_handle)
    buffer = Buffer.from_ipc_descriptor(pool, descriptor, stream=stream)
    buffer.fill(7, stream=stream)
    stream.sync()
    connection.send("done")


def test_memory_shared_with_another_process(device, stream):
    pool = DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=1 << 22, ipc_enabled=True))
    buffer, host = pool.allocate(64, stream=stream), pinned(64, stream)
    stream.sync()
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=send_back, args=(theirs, pool.allocation_handle, buffer.ipc_descriptor))
    process.start()
    assert ours.poll(50) and ours.recv() == "done"
    process.join()
    buffer.copy_to(host, stream=stream)
    stream.sync()
    assert (numbers_of(host, np.uint8) == 7).all()
