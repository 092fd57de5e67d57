"""PyTorch's wheel: all that needs no kernel of its own, which the wheel has as machine code alone."""
import os
import pytest
import subprocess
import sys
import threading
import torch


def filled(device, count=1 << 20):
    host = torch.arange(count, dtype=torch.float32)
    return host, host.to(device)


def test_the_devices_and_their_properties():
    assert torch.cuda.is_available() and torch.cuda.device_count() == 4
    properties = torch.cuda.get_device_properties(0)
    assert (properties.major, properties.minor) == torch.cuda.get_device_capability(0)
    assert properties.total_memory == torch.cuda.mem_get_info(0)[1]
    assert torch.cuda.can_device_access_peer(0, 1)


def test_a_tensor_goes_to_a_device_and_comes_back():
    host, there = filled("cuda:2")
    assert there.device.index == 2 and torch.equal(there.cpu(), host)


def test_the_device_of_a_block_is_set_and_comes_back():
    torch.cuda.set_device(1)
    with torch.cuda.device(3):
        assert torch.cuda.current_device() == 3 and torch.empty(1, device="cuda").device.index == 3
    assert torch.cuda.current_device() == 1 and torch.empty(1, device="cuda").device.index == 1


def test_the_caching_allocator_gives_a_block_again():
    torch.cuda.empty_cache()
    first = torch.empty(3 << 20, dtype=torch.uint8, device="cuda:0")
    address, reserved = first.data_ptr(), torch.cuda.memory_reserved(0)
    del first
    assert torch.cuda.memory_allocated(0) == 0 and torch.cuda.memory_reserved(0) == reserved
    assert torch.empty(3 << 20, dtype=torch.uint8, device="cuda:0").data_ptr() == address
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved(0) == 0


def test_too_much_memory_is_an_error_that_says_so():
    with pytest.raises(torch.cuda.OutOfMemoryError, match="total capacity"):
        torch.empty(1 << 40, dtype=torch.uint8, device="cuda:0")
    assert torch.empty(1 << 20, dtype=torch.uint8, device="cuda:0").numel() == 1 << 20


def test_the_allocator_of_the_drivers_pools():
    code = "import torch; a = torch.ones(1 << 20).cuda(1); b = a.clone(); del a; assert b.cpu().sum() == 1 << 20"
    settings = {"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"}
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, **settings})


def test_pinned_memory_is_copied_in_a_stream():
    host = torch.arange(1 << 20, dtype=torch.float32).pin_memory()
    stream, back = torch.cuda.Stream(1), torch.empty(1 << 20).pin_memory()
    with torch.cuda.stream(stream):
        there = torch.empty(1 << 20, device="cuda:1")
        there.copy_(host, non_blocking=True)
        back.copy_(there, non_blocking=True)
    stream.synchronize()
    assert host.is_pinned() and stream.query() and torch.equal(back, host)


def test_events_order_streams_and_take_times():
    first, second = torch.cuda.Stream(0), torch.cuda.Stream(0)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    host, there = filled("cuda:0")
    torch.cuda.synchronize(0)
    with torch.cuda.stream(first):
        begin.record()
        middle = there.clone()
        end.record()
    second.wait_event(end)
    with torch.cuda.stream(second):
        back = middle.clone()
    middle.record_stream(second)
    second.synchronize()
    assert begin.elapsed_time(end) >= 0 and torch.equal(back.cpu(), host)


def test_tensors_go_between_devices():
    host, there = filled("cuda:0")
    for device in ("cuda:1", "cuda:2", "cuda:3", "cuda:0"):
        there = there.to(device, non_blocking=True)
    torch.cuda.synchronize()
    assert torch.equal(there.cpu(), host)


def test_threads_have_devices_of_their_own():
    seen = [None] * 4

    def work(device):
        torch.cuda.set_device(device)
        host, there = filled("cuda")
        seen[device] = (torch.cuda.current_device(), there.device.index, torch.equal(there.cpu(), host))

    threads = [threading.Thread(target=work, args=(device,)) for device in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [(device, device, True) for device in range(4)]


def test_copies_are_captured_and_replayed():
    source, target = torch.zeros(1 << 16, dtype=torch.uint8).cuda(0), torch.empty(1 << 16, dtype=torch.uint8, device="cuda:0")
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        target.copy_(source)
    source.copy_(torch.full((1 << 16,), 7, dtype=torch.uint8))
    graph.replay()
    torch.cuda.synchronize()
    assert (target.cpu() == 7).all()


def test_memory_is_shared_with_another_process():
    import torch.multiprocessing as processes
    host, there = filled("cuda:0", 1 << 10)
    context = processes.get_context("spawn")
    queue = context.Queue()
    child = context.Process(target=take, args=(queue,))
    child.start()
    queue.put(there)
    child.join(100)
    assert child.exitcode == 0


def take(queue):
    assert torch.equal(queue.get(timeout=90).cpu(), torch.arange(1 << 10, dtype=torch.float32))


def test_a_kernel_of_its_own():
    assert (torch.zeros(4).cuda() + 1).sum().item() == 4
