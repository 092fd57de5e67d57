"""The driver module of cuda-bindings: its conversions of arguments and results, call by call."""
import ctypes
import threading

import numpy as np
import pytest
from cuda.bindings import driver as cu
from cuda.bindings import nvrtc

SUCCESS = cu.CUresult.CUDA_SUCCESS
SOURCE = b"""
__constant__ int factor = 3;
__device__ int total;
extern "C" __global__ void scale(int *numbers, int count, float more)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        numbers[i] = numbers[i] * factor + (int)more;
    atomicAdd(&total, 1);
}
"""


def done(answer):
    """What a call gave, without its status."""
    status, *values = answer
    assert status == SUCCESS, status
    return values[0] if len(values) == 1 else tuple(values)


@pytest.fixture
def device():
    done(cu.cuInit(0))
    return done(cu.cuDeviceGet(0))


@pytest.fixture
def context(device):
    context = done(cu.cuCtxCreate(None, 0, device))
    yield context
    done(cu.cuCtxDestroy(context))


@pytest.fixture
def stream(context):
    return done(cu.cuStreamCreate(cu.CUstream_flags.CU_STREAM_NON_BLOCKING))


@pytest.fixture(scope="session")
def ptx():
    program = done(nvrtc.nvrtcCreateProgram(SOURCE, b"scale.cu", 0, [], []))
    options = [b"--gpu-architecture=compute_75"]
    done(nvrtc.nvrtcCompileProgram(program, len(options), options))
    text = b" " * done(nvrtc.nvrtcGetPTXSize(program))
    done(nvrtc.nvrtcGetPTX(program, text))
    return text


@pytest.fixture
def module(context, ptx):
    return done(cu.cuModuleLoadData(ptx))


def test_version(device):
    assert done(cu.cuDriverGetVersion()) == 13000


def test_texts_of_errors(device):
    assert done(cu.cuGetErrorName(cu.CUresult.CUDA_ERROR_INVALID_VALUE)) == b"CUDA_ERROR_INVALID_VALUE"
    assert done(cu.cuGetErrorString(cu.CUresult.CUDA_ERROR_INVALID_VALUE)) == b"invalid argument"


def test_devices(device):
    assert done(cu.cuDeviceGetCount()) == 4
    assert cu.cuDeviceGet(4)[0] == cu.CUresult.CUDA_ERROR_INVALID_DEVICE
    assert done(cu.cuDeviceGetName(256, device)).rstrip(b"\0")
    assert len(done(cu.cuDeviceGetUuid(device)).bytes) == 16
    assert done(cu.cuDeviceTotalMem(device)) > 0
    place = done(cu.cuDeviceGetPCIBusId(64, device)).rstrip(b"\0")
    assert int(done(cu.cuDeviceGetByPCIBusId(place))) == 0


@pytest.mark.parametrize("attribute", [row for row in cu.CUdevice_attribute if row.name[-3:] != "MAX" and int(row) < 136],
                         ids=lambda row: row.name)
def test_attribute(device, attribute):
    assert isinstance(done(cu.cuDeviceGetAttribute(attribute, device)), int)


def test_primary_context(device):
    context = done(cu.cuDevicePrimaryCtxRetain(device))
    done(cu.cuCtxSetCurrent(context))
    assert int(done(cu.cuCtxGetCurrent())) == int(context)
    assert done(cu.cuDevicePrimaryCtxGetState(device))[1] == 1
    done(cu.cuDevicePrimaryCtxRelease(device))
    assert done(cu.cuDevicePrimaryCtxGetState(device))[1] == 0


def test_stack_of_contexts(device, context):
    second = done(cu.cuCtxCreate(None, 0, device))
    assert int(done(cu.cuCtxPopCurrent())) == int(second)
    assert int(done(cu.cuCtxGetCurrent())) == int(context)
    done(cu.cuCtxPushCurrent(second))
    assert int(done(cu.cuCtxGetDevice())) == int(device)
    done(cu.cuCtxDestroy(second))
    assert int(done(cu.cuCtxGetCurrent())) == int(context)


def test_ids_and_versions_of_contexts(context):
    assert done(cu.cuCtxGetId(context)) > 0 and done(cu.cuCtxGetApiVersion(context)) > 0
    assert done(cu.cuCtxGetFlags()) >= 0


@pytest.mark.parametrize("limit", ["STACK_SIZE", "PRINTF_FIFO_SIZE", "MALLOC_HEAP_SIZE"])
def test_limit(context, limit):
    limit = getattr(cu.CUlimit, "CU_LIMIT_" + limit)
    done(cu.cuCtxSetLimit(limit, 1 << 20 if "STACK" not in limit.name else 2048))
    assert done(cu.cuCtxGetLimit(limit)) >= 2048


def test_contexts_belong_to_threads(context):
    seen = []
    thread = threading.Thread(target=lambda: seen.append(int(done(cu.cuCtxGetCurrent()))))
    thread.start()
    thread.join()
    assert seen == [0]


def test_memory(context):
    free, total = done(cu.cuMemGetInfo())
    memory = done(cu.cuMemAlloc(1 << 20))
    assert done(cu.cuMemGetInfo())[0] <= free - (1 << 20) and free <= total
    start, size = done(cu.cuMemGetAddressRange(int(memory) + 100))
    assert (int(start), size) == (int(memory), 1 << 20)
    done(cu.cuMemFree(memory))
    assert cu.cuMemFree(memory)[0] == cu.CUresult.CUDA_ERROR_INVALID_VALUE


def test_pitched_memory(context):
    memory, pitch = done(cu.cuMemAllocPitch(100, 10, 4))
    assert pitch >= 100 and int(memory)


@pytest.mark.parametrize("kind, size", [(np.uint8, "8"), (np.uint16, "16"), (np.uint32, "32")])
def test_fills(context, kind, size):
    memory, host = done(cu.cuMemAlloc(64)), np.zeros(64 // np.dtype(kind).itemsize, kind)
    done(getattr(cu, "cuMemsetD" + size)(memory, 77, len(host)))
    done(cu.cuMemcpyDtoH(host, memory, 64))
    assert (host == 77).all()


def test_copies(context, stream):
    host, back = np.arange(100, dtype=np.int32), np.zeros(100, np.int32)
    first, second = done(cu.cuMemAlloc(400)), done(cu.cuMemAlloc(400))
    done(cu.cuMemcpyHtoDAsync(first, host.ctypes.data, 400, stream))
    done(cu.cuMemcpyDtoDAsync(second, first, 400, stream))
    done(cu.cuMemcpyDtoHAsync(back.ctypes.data, second, 400, stream))
    done(cu.cuStreamSynchronize(stream))
    assert (host == back).all()


def test_a_copy_of_a_region(context):
    host, back = np.arange(64, dtype=np.uint8).reshape(8, 8), np.zeros((4, 4), np.uint8)
    copy = cu.CUDA_MEMCPY2D()
    copy.srcMemoryType = copy.dstMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_HOST
    copy.srcHost, copy.dstHost = host.ctypes.data, back.ctypes.data
    copy.srcPitch, copy.dstPitch, copy.srcXInBytes, copy.srcY, copy.WidthInBytes, copy.Height = 8, 4, 2, 3, 4, 4
    done(cu.cuMemcpy2D(copy))
    assert (back == host[3:7, 2:6]).all()


def test_copies_between_devices(context):
    other = done(cu.cuCtxCreate(None, 0, 1))
    far = done(cu.cuMemAlloc(16))
    done(cu.cuCtxPopCurrent())
    near, host = done(cu.cuMemAlloc(16)), np.zeros(4, np.int32)
    done(cu.cuMemsetD32(near, 9, 4))
    done(cu.cuMemcpyPeer(far, other, near, context, 16))
    done(cu.cuCtxPushCurrent(other))
    done(cu.cuMemcpyDtoH(host, far, 16))
    done(cu.cuCtxDestroy(other))
    assert (host == 9).all()


def test_peer_access(context):
    other = done(cu.cuCtxCreate(None, 0, 1))
    done(cu.cuCtxPopCurrent())
    assert done(cu.cuDeviceCanAccessPeer(0, 1)) == 1
    done(cu.cuCtxEnablePeerAccess(other, 0))
    assert cu.cuCtxEnablePeerAccess(other, 0)[0] == cu.CUresult.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
    done(cu.cuCtxDisablePeerAccess(other))
    done(cu.cuCtxDestroy(other))


def test_pinned_memory(context):
    memory = done(cu.cuMemHostAlloc(4096, cu.CU_MEMHOSTALLOC_DEVICEMAP))
    assert int(done(cu.cuMemHostGetDevicePointer(memory, 0))) == int(memory)
    assert done(cu.cuMemHostGetFlags(memory)) & cu.CU_MEMHOSTALLOC_DEVICEMAP
    ctypes.memset(int(memory), 1, 4096)
    done(cu.cuMemFreeHost(memory))


def test_registered_memory(context):
    host = np.zeros(8192, np.uint8)
    done(cu.cuMemHostRegister(host.ctypes.data, 8192, 0))
    done(cu.cuMemHostUnregister(host.ctypes.data))


def test_managed_memory(context):
    memory = done(cu.cuMemAllocManaged(64, cu.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL.value))
    ctypes.memset(int(memory), 5, 64)
    assert done(cu.cuPointerGetAttribute(cu.CUpointer_attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED, memory))


@pytest.mark.parametrize("name", ["CONTEXT", "MEMORY_TYPE", "DEVICE_POINTER", "SYNC_MEMOPS", "BUFFER_ID", "IS_MANAGED",
                                  "DEVICE_ORDINAL", "RANGE_START_ADDR", "RANGE_SIZE", "MAPPED", "MEMPOOL_HANDLE"])
def test_attribute_of_a_pointer(context, name):
    memory = done(cu.cuMemAlloc(64))
    done(cu.cuPointerGetAttribute(getattr(cu.CUpointer_attribute, "CU_POINTER_ATTRIBUTE_" + name), memory))


def test_ordered_memory(context, stream):
    memory = done(cu.cuMemAllocAsync(1 << 16, stream))
    done(cu.cuMemsetD8Async(memory, 1, 1 << 16, stream))
    done(cu.cuMemFreeAsync(memory, stream))
    done(cu.cuStreamSynchronize(stream))


def test_a_pool(context, stream):
    properties = cu.CUmemPoolProps()
    properties.allocType = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    pool = done(cu.cuMemPoolCreate(properties))
    threshold = cu.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
    done(cu.cuMemPoolSetAttribute(pool, threshold, cu.cuuint64_t(1 << 20)))
    assert int(done(cu.cuMemPoolGetAttribute(pool, threshold))) == 1 << 20
    memory = done(cu.cuMemAllocFromPoolAsync(4096, pool, stream))
    done(cu.cuMemFreeAsync(memory, stream))
    done(cu.cuMemPoolTrimTo(pool, 0))
    done(cu.cuMemPoolDestroy(pool))


def test_virtual_memory(context):
    properties = cu.CUmemAllocationProp()
    properties.type = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    size = done(cu.cuMemGetAllocationGranularity(
        properties, cu.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM))
    physical, address = done(cu.cuMemCreate(size, properties, 0)), done(cu.cuMemAddressReserve(size, 0, 0, 0))
    done(cu.cuMemMap(address, size, 0, physical, 0))
    access = cu.CUmemAccessDesc()
    access.location, access.flags = properties.location, cu.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    done(cu.cuMemSetAccess(address, size, [access], 1))
    done(cu.cuMemsetD8(address, 1, size))
    done(cu.cuMemUnmap(address, size))
    done(cu.cuMemRelease(physical))
    done(cu.cuMemAddressFree(address, size))


def test_streams(context):
    least, greatest = done(cu.cuCtxGetStreamPriorityRange())
    stream = done(cu.cuStreamCreateWithPriority(0, greatest))
    assert greatest <= least and done(cu.cuStreamGetPriority(stream)) == greatest
    assert done(cu.cuStreamGetFlags(stream)) == 0 and done(cu.cuStreamGetId(stream)) > 0
    assert int(done(cu.cuStreamGetCtx(stream))) == int(context)
    done(cu.cuStreamQuery(stream))
    done(cu.cuStreamDestroy(stream))


def test_events(context, stream):
    first, second = (done(cu.cuEventCreate(0)) for _ in range(2))
    done(cu.cuEventRecord(first, stream))
    done(cu.cuEventRecord(second, stream))
    done(cu.cuStreamWaitEvent(None, second, 0))
    done(cu.cuEventSynchronize(second))
    done(cu.cuEventQuery(first))
    assert done(cu.cuEventElapsedTime(first, second)) >= 0


def test_a_host_function(context, stream):
    called = []
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(called.append)
    address = ctypes.cast(function, ctypes.c_void_p).value
    done(cu.cuLaunchHostFunc(stream, cu.CUhostFn(address), 17))
    done(cu.cuStreamSynchronize(stream))
    assert called == [17]


def test_values_in_memory(context, stream):
    memory, host = done(cu.cuMemAlloc(4)), np.zeros(1, np.uint32)
    done(cu.cuMemsetD32(memory, 0, 1))
    done(cu.cuStreamWriteValue32(stream, memory, 5, 0))
    done(cu.cuStreamWaitValue32(stream, memory, 5, 0))
    done(cu.cuMemcpyDtoHAsync(host.ctypes.data, memory, 4, stream))
    done(cu.cuStreamSynchronize(stream))
    assert host[0] == 5


def launched(function, stream, numbers, more=1.0):
    memory = done(cu.cuMemAlloc(numbers.nbytes))
    done(cu.cuMemcpyHtoD(memory, numbers, numbers.nbytes))
    values = (memory, len(numbers), more), (None, ctypes.c_int, ctypes.c_float)
    done(cu.cuLaunchKernel(function, 2, 1, 1, 64, 1, 1, 0, stream, values, 0))
    done(cu.cuStreamSynchronize(stream))
    done(cu.cuMemcpyDtoH(numbers, memory, numbers.nbytes))
    return numbers


def test_a_kernel(module, stream):
    numbers = launched(done(cu.cuModuleGetFunction(module, b"scale")), stream, np.arange(100, dtype=np.int32))
    assert (numbers == np.arange(100) * 3 + 1).all()


def test_arguments_as_addresses(module, stream):
    memory, count, more = done(cu.cuMemAlloc(400)), np.array([100], np.int32), np.array([2], np.float32)
    done(cu.cuMemsetD32Async(memory, 1, 100, stream))
    address = np.array([int(memory)], np.uint64)
    values = np.array([row.ctypes.data for row in (address, count, more)], np.uint64)
    function, host = done(cu.cuModuleGetFunction(module, b"scale")), np.zeros(100, np.int32)
    done(cu.cuLaunchKernel(function, 2, 1, 1, 64, 1, 1, 0, stream, values.ctypes.data, 0))
    done(cu.cuStreamSynchronize(stream))
    done(cu.cuMemcpyDtoH(host, memory, 400))
    assert (host == 5).all()


def test_globals_of_a_module(module, stream):
    address, size = done(cu.cuModuleGetGlobal(module, b"factor"))
    done(cu.cuMemcpyHtoD(address, np.array([10], np.int32), size))
    function = done(cu.cuModuleGetFunction(module, b"scale"))
    assert size == 4 and (launched(function, stream, np.ones(10, np.int32)) == 11).all()


def test_attributes_and_occupancy_of_a_function(module):
    function = done(cu.cuModuleGetFunction(module, b"scale"))
    threads = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
    assert done(cu.cuFuncGetAttribute(threads, function)) == 1024
    assert done(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(function, 128, 0)) > 0
    assert done(cu.cuFuncGetName(function)) == b"scale"


def test_names_that_a_module_lacks(module):
    assert cu.cuModuleGetFunction(module, b"absent")[0] == cu.CUresult.CUDA_ERROR_NOT_FOUND


def test_bad_ptx(context):
    assert cu.cuModuleLoadData(b".version 7.0\n.target sm_75\nno code\0")[0] == cu.CUresult.CUDA_ERROR_INVALID_PTX


def test_the_log_of_bad_ptx(context):
    log = bytearray(1000)
    options = [cu.CUjit_option.CU_JIT_ERROR_LOG_BUFFER, cu.CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
    text = b".version 7.0\n.target sm_75\n.address_size 64\nnonsense\n\0"
    assert cu.cuModuleLoadDataEx(text, 2, options, [log, len(log)])[0] == cu.CUresult.CUDA_ERROR_INVALID_PTX
    assert log.rstrip(b"\0")


def test_a_library(context, ptx, stream):
    library = done(cu.cuLibraryLoadData(ptx, [], [], 0, [], [], 0))
    kernel = done(cu.cuLibraryGetKernel(library, b"scale"))
    numbers = launched(done(cu.cuKernelGetFunction(kernel)), stream, np.arange(100, dtype=np.int32))
    assert done(cu.cuLibraryGetKernelCount(library)) == 1 and (numbers == np.arange(100) * 3 + 1).all()
    done(cu.cuLibraryUnload(library))


def test_linking(context, ptx, stream):
    link = done(cu.cuLinkCreate(0, [], []))
    done(cu.cuLinkAddData(link, cu.CUjitInputType.CU_JIT_INPUT_PTX, ptx, len(ptx), b"scale.ptx", 0, [], []))
    image, size = done(cu.cuLinkComplete(link))
    module = done(cu.cuModuleLoadData(ctypes.string_at(int(image), size) if not isinstance(image, bytes) else image))
    function = done(cu.cuModuleGetFunction(module, b"scale"))
    assert (launched(function, stream, np.ones(10, np.int32)) == 4).all() and size > 0
    done(cu.cuLinkDestroy(link))


def test_a_captured_graph(module, stream):
    memory, host = done(cu.cuMemAlloc(4)), np.zeros(1, np.uint32)
    done(cu.cuStreamBeginCapture(stream, cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))
    done(cu.cuMemsetD32Async(memory, 6, 1, stream))
    assert done(cu.cuStreamIsCapturing(stream)) == cu.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
    graph = done(cu.cuStreamEndCapture(stream))
    executable = done(cu.cuGraphInstantiate(graph, 0))
    done(cu.cuGraphLaunch(executable, stream))
    done(cu.cuStreamSynchronize(stream))
    done(cu.cuMemcpyDtoH(host, memory, 4))
    assert host[0] == 6


def test_a_graph_made_by_hand(context, stream):
    graph = done(cu.cuGraphCreate(0))
    memory, host = done(cu.cuMemAlloc(4)), np.zeros(1, np.uint32)
    fill = cu.CUDA_MEMSET_NODE_PARAMS()
    fill.dst, fill.elementSize, fill.width, fill.height, fill.value = memory, 4, 1, 1, 8
    first = done(cu.cuGraphAddMemsetNode(graph, [], 0, fill, context))
    done(cu.cuGraphAddEmptyNode(graph, [first], 1))
    nodes, count = done(cu.cuGraphGetNodes(graph, 10))
    assert count == 2 and int(nodes[0]) == int(first)
    executable = done(cu.cuGraphInstantiate(graph, 0))
    done(cu.cuGraphLaunch(executable, stream))
    done(cu.cuStreamSynchronize(stream))
    done(cu.cuMemcpyDtoH(host, memory, 4))
    assert host[0] == 8


def test_green_contexts(device):
    kind = cu.CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM
    all_of_it = done(cu.cuDeviceGetDevResource(device, kind))
    groups, count, rest = done(cu.cuDevSmResourceSplitByCount(1, all_of_it, 0, 8))
    description = done(cu.cuDevResourceGenerateDesc(groups, 1))
    flag = cu.CUgreenCtxCreate_flags.CU_GREEN_CTX_DEFAULT_STREAM
    green = done(cu.cuGreenCtxCreate(description, device, flag))
    stream = done(cu.cuGreenCtxStreamCreate(green, cu.CUstream_flags.CU_STREAM_NON_BLOCKING, 0))
    done(cu.cuStreamSynchronize(stream))
    done(cu.cuStreamDestroy(stream))
    done(cu.cuGreenCtxDestroy(green))


def test_profiler(context):
    from cuda.bindings import driver

    done(driver.cuProfilerStart())
    done(driver.cuProfilerStop())


def test_arrays_are_refused(context):
    shape = cu.CUDA_ARRAY_DESCRIPTOR()
    shape.Width, shape.Height, shape.NumChannels, shape.Format = 8, 8, 1, cu.CUarray_format.CU_AD_FORMAT_FLOAT
    assert cu.cuArrayCreate(shape)[0] == cu.CUresult.CUDA_ERROR_NOT_SUPPORTED


def test_machine_code_is_refused(context):
    image = b"\x7fELF\x02\x01\x01" + bytes(57)
    assert cu.cuModuleLoadData(image)[0] in (cu.CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU, cu.CUresult.CUDA_ERROR_INVALID_IMAGE)
