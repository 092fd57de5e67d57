#include "runtime/calls.h"
#include "runtime/code.h"
#include "runtime/driver.h"

#include <stddef.h>

/* ---- versions ---- */

cxr_error cxr_cudaRuntimeGetVersion(int *out_version)
{
    if (out_version == NULL)
        return CXR_INVALID_VALUE;
    *out_version = cx_cudart_version;
    return CXR_SUCCESS;
}

/* Without a driver the version is 0, which is no error. */
cxr_error cxr_cudaDriverGetVersion(int *out_version)
{
    const cx_driver_table *driver;
    if (out_version == NULL)
        return CXR_INVALID_VALUE;
    (void)cx_cudart_use_driver(&driver);
    *out_version = cx_cudart_driver()->version;
    return CXR_SUCCESS;
}

/* ---- the thread's device ---- */

cxr_error cxr_cudaGetDeviceCount(int *out_count)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_driver(&driver);
    if (out_count == NULL)
        return CXR_INVALID_VALUE;
    *out_count = 0;
    return error != CXR_SUCCESS ? error : (cxr_error)driver->device_get_count(out_count);
}

/* Since CUDA 12 the call initialises the device. */
cxr_error cxr_cudaSetDevice(int device)
{
    return cx_cudart_set_device(device, cx_cudart_version >= 12000);
}

cxr_error cxr_cudaGetDevice(int *out_device)
{
    if (out_device == NULL)
        return CXR_INVALID_VALUE;
    return cx_cudart_current_device(out_device, true);
}

/* A first choice that the thread has not overridden: the first valid device that there is. */
cxr_error cxr_cudaSetValidDevices(int *devices, int count)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_driver(&driver);
    if (error != CXR_SUCCESS)
        return error;
    if (count < 0 || (count != 0 && devices == NULL))
        return CXR_INVALID_VALUE;
    for (int i = 0; i < count; i++)
        if (!cx_cudart_has_device(devices[i]))
            return CXR_INVALID_DEVICE;
    return count == 0 ? CXR_SUCCESS : cx_cudart_set_device(devices[0], false);
}

static cxr_error find_device(CUdevice *out_device, const cx_driver_table **out_driver)
{
    cxr_error error = cx_cudart_use_driver(out_driver);
    return error != CXR_SUCCESS ? error : cx_cudart_current_device(out_device, false);
}

/* Host memory can be mapped in every context; the driver refuses the flag for a primary one. */
static unsigned int flags_of_driver(unsigned int flags)
{
    return flags & ~(unsigned int)CXR_DEVICE_MAP_HOST;
}

cxr_error cxr_cudaSetDeviceFlags(unsigned int flags)
{
    const cx_driver_table *driver;
    CUdevice device;
    if ((flags & ~(unsigned int)CXR_DEVICE_MASK) != 0)
        return CXR_INVALID_VALUE;
    cxr_error error = find_device(&device, &driver);
    if (error != CXR_SUCCESS)
        return error;
    return (cxr_error)driver->primary_set_flags(device, flags_of_driver(flags));
}

cxr_error cxr_cudaGetDeviceFlags(unsigned int *out_flags)
{
    const cx_driver_table *driver;
    CUdevice device;
    int active;
    if (out_flags == NULL)
        return CXR_INVALID_VALUE;
    cxr_error error = find_device(&device, &driver);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver->primary_get_state(device, out_flags, &active);
    if (error == CXR_SUCCESS)
        *out_flags |= CXR_DEVICE_MAP_HOST;
    return error;
}

cxr_error cxr_cudaInitDevice(int device, unsigned int device_flags, unsigned int flags)
{
    const cx_driver_table *driver;
    CUcontext context;
    cxr_error error = cx_cudart_use_driver(&driver);
    if (error != CXR_SUCCESS)
        return error;
    if (!cx_cudart_has_device(device))
        return CXR_INVALID_DEVICE;
    if ((flags & ~(unsigned int)CXR_INIT_DEVICE_FLAGS_ARE_VALID) != 0)
        return CXR_INVALID_VALUE;
    if (flags == CXR_INIT_DEVICE_FLAGS_ARE_VALID)
        error = (cxr_error)driver->primary_set_flags(device, flags_of_driver(device_flags));
    return error != CXR_SUCCESS ? error : cx_cudart_primary(device, &context);
}

cxr_error cxr_cudaDeviceSynchronize(void)
{
    CX_CUDART_PASS(ctx_synchronize, ());
}

cxr_error cxr_cudaThreadSynchronize(void)
{
    return cxr_cudaDeviceSynchronize();
}

/* A device without a context has nothing to reset. An error that stuck to the context is over. */
cxr_error cxr_cudaDeviceReset(void)
{
    const cx_driver_table *driver;
    CUdevice device;
    cxr_error error = find_device(&device, &driver);
    if (error != CXR_SUCCESS)
        return error;
    error = cx_cudart_reset(device);
    cx_cudart_thread *thread = cx_cudart_thread_get();
    if (error == CXR_SUCCESS && cx_result_sticks((cxu_result)thread->last_error))
        thread->last_error = CXR_SUCCESS;
    return error;
}

cxr_error cxr_cudaThreadExit(void)
{
    return cxr_cudaDeviceReset();
}

/* ---- the context's settings ---- */

cxr_error cxr_cudaDeviceSetLimit(cxu_limit limit, size_t value)
{
    CX_CUDART_PASS(ctx_set_limit, (limit, value));
}

cxr_error cxr_cudaDeviceGetLimit(size_t *out_value, cxu_limit limit)
{
    CX_CUDART_PASS(ctx_get_limit, (out_value, limit));
}

cxr_error cxr_cudaThreadSetLimit(cxu_limit limit, size_t value)
{
    return cxr_cudaDeviceSetLimit(limit, value);
}

cxr_error cxr_cudaThreadGetLimit(size_t *out_value, cxu_limit limit)
{
    return cxr_cudaDeviceGetLimit(out_value, limit);
}

cxr_error cxr_cudaDeviceSetCacheConfig(cxu_func_cache config)
{
    CX_CUDART_PASS(ctx_set_cache_config, (config));
}

cxr_error cxr_cudaDeviceGetCacheConfig(cxu_func_cache *out_config)
{
    CX_CUDART_PASS(ctx_get_cache_config, (out_config));
}

cxr_error cxr_cudaThreadSetCacheConfig(cxu_func_cache config)
{
    return cxr_cudaDeviceSetCacheConfig(config);
}

cxr_error cxr_cudaThreadGetCacheConfig(cxu_func_cache *out_config)
{
    return cxr_cudaDeviceGetCacheConfig(out_config);
}

cxr_error cxr_cudaDeviceSetSharedMemConfig(cxu_shared_config config)
{
    CX_CUDART_PASS(ctx_set_shared_mem_config, (config));
}

cxr_error cxr_cudaDeviceGetSharedMemConfig(cxu_shared_config *out_config)
{
    CX_CUDART_PASS(ctx_get_shared_mem_config, (out_config));
}

cxr_error cxr_cudaDeviceGetStreamPriorityRange(int *out_least, int *out_greatest)
{
    CX_CUDART_PASS(ctx_get_stream_priority_range, (out_least, out_greatest));
}

cxr_error cxr_cudaCtxResetPersistingL2Cache(void)
{
    CX_CUDART_PASS(ctx_reset_persisting_l2_cache, ());
}

cxr_error cxr_cudaDeviceFlushGPUDirectRDMAWrites(cxu_flush_rdma_target target,
                                                 cxu_flush_rdma_scope scope)
{
    CX_CUDART_PASS(flush_gpu_direct_rdma_writes, (target, scope));
}

/* ---- peers ---- */

cxr_error cxr_cudaDeviceCanAccessPeer(int *out_can, int device, int peer)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_driver(&driver);
    return error != CXR_SUCCESS ? error
                                : (cxr_error)driver->device_can_access_peer(out_can, device, peer);
}

static cxr_error find_peer(int device, const cx_driver_table **out_driver, CUcontext *out_peer)
{
    cxr_error error = cx_cudart_use_context(out_driver);
    return error != CXR_SUCCESS ? error : cx_cudart_primary(device, out_peer);
}

cxr_error cxr_cudaDeviceEnablePeerAccess(int device, unsigned int flags)
{
    const cx_driver_table *driver;
    CUcontext peer;
    cxr_error error = find_peer(device, &driver, &peer);
    if (error != CXR_SUCCESS)
        return error;
    error = (cxr_error)driver->ctx_enable_peer_access(peer, flags);
    /* The thread's own device is none of its peers. */
    return error == CXR_DEVICE_UNINITIALIZED || error == CXR_PEER_ACCESS_UNSUPPORTED
               ? CXR_INVALID_DEVICE
               : error;
}

cxr_error cxr_cudaDeviceDisablePeerAccess(int device)
{
    const cx_driver_table *driver;
    CUcontext peer;
    cxr_error error = find_peer(device, &driver, &peer);
    return error != CXR_SUCCESS ? error : (cxr_error)driver->ctx_disable_peer_access(peer);
}

cxr_error cxr_cudaDeviceGetP2PAttribute(int *out_value, cxu_p2p_attribute attribute, int source,
                                        int destination)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_driver(&driver);
    if (error != CXR_SUCCESS)
        return error;
    return (cxr_error)driver->device_get_p2p_attribute(out_value, attribute, source, destination);
}

/* ---- queries that need no context ---- */

cxr_error cxr_cudaDeviceGetAttribute(int *out_value, cxu_device_attribute attribute, int device)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_driver(&driver);
    if (error != CXR_SUCCESS)
        return error;
    return (cxr_error)driver->device_get_attribute(out_value, attribute, device);
}

cxr_error cxr_cudaDeviceGetByPCIBusId(int *out_device, const char *bus_id)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_driver(&driver);
    return error != CXR_SUCCESS ? error
                                : (cxr_error)driver->device_get_by_pci_bus_id(out_device, bus_id);
}

cxr_error cxr_cudaDeviceGetPCIBusId(char *out_bus_id, int size, int device)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_driver(&driver);
    if (error != CXR_SUCCESS)
        return error;
    return (cxr_error)driver->device_get_pci_bus_id(out_bus_id, size, device);
}

cxr_error cxr_cudaDeviceGetHostAtomicCapabilities(unsigned int *out_capabilities,
                                                  const cxu_atomic_operation *operations,
                                                  unsigned int count, int device)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_driver(&driver);
    if (error != CXR_SUCCESS)
        return error;
    return (cxr_error)driver->device_get_host_atomic_capabilities(out_capabilities, operations,
                                                                  count, device);
}

cxr_error cxr_cudaDeviceGetP2PAtomicCapabilities(unsigned int *out_capabilities,
                                                 const cxu_atomic_operation *operations,
                                                 unsigned int count, int source, int destination)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_driver(&driver);
    if (error != CXR_SUCCESS)
        return error;
    return (cxr_error)driver->device_get_p2p_atomic_capabilities(out_capabilities, operations,
                                                                 count, source, destination);
}

/* ---- notifications ---- */

cxr_error cxr_cudaDeviceRegisterAsyncNotification(int device, cxu_async_callback callback,
                                                  void *user_data,
                                                  CUasyncCallbackHandle *out_handle)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_driver(&driver);
    if (error != CXR_SUCCESS)
        return error;
    return (cxr_error)driver->device_register_async_notification(device, callback, user_data,
                                                                 out_handle);
}

cxr_error cxr_cudaDeviceUnregisterAsyncNotification(int device, CUasyncCallbackHandle handle)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_driver(&driver);
    if (error != CXR_SUCCESS)
        return error;
    return (cxr_error)driver->device_unregister_async_notification(device, handle);
}

/* ---- profilers ---- */

cxr_error cxr_cudaProfilerStart(void)
{
    CX_CUDART_PASS(profiler_start, ());
}

cxr_error cxr_cudaProfilerStop(void)
{
    CX_CUDART_PASS(profiler_stop, ());
}
