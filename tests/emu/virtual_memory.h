/* Ranges of addresses, and memory that is mapped there. */
#ifndef TESTS_EMU_VIRTUAL_MEMORY_H
#define TESTS_EMU_VIRTUAL_MEMORY_H

#include "memory_fixture.h"

#define CHUNK ((size_t)2 * MIB)
#define ck_invalid(call) ck_assert_int_eq(call, CXU_INVALID_VALUE)

static inline cxu_mem_properties on_device(int device)
{
    return (cxu_mem_properties){.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CXU_MEM_LOCATION_TYPE_DEVICE, device}};
}

static inline CUdeviceptr reserve(size_t bytes)
{
    CUdeviceptr range = 0;
    ck_success(cx_emu_call_mem_address_reserve(&range, bytes, 0, 0, 0));
    ck_assert_uint_ne(range, 0);
    return range;
}

static inline CUmemGenericAllocationHandle create(int device, size_t bytes)
{
    CUmemGenericAllocationHandle handle = 0;
    cxu_mem_properties properties = on_device(device);
    ck_success(cx_emu_call_mem_create(&handle, bytes, &properties, 0));
    ck_assert_uint_ne(handle, 0);
    return handle;
}

static inline cxu_result set_access(CUdeviceptr at, size_t bytes, int device,
                                    cxu_mem_access_flags flags)
{
    cxu_mem_access access = {{CXU_MEM_LOCATION_TYPE_DEVICE, device}, flags};
    return cx_emu_call_mem_set_access(at, bytes, &access, 1);
}

static inline void open_to(CUdeviceptr at, size_t bytes, int device)
{
    ck_success(set_access(at, bytes, device, CXU_MEM_ACCESS_FLAGS_PROT_READWRITE));
}

static inline unsigned long long access_of(CUdeviceptr at, int device)
{
    unsigned long long flags = 77;
    cxu_mem_location location = {CXU_MEM_LOCATION_TYPE_DEVICE, device};
    ck_success(cx_emu_call_mem_get_access(&flags, &location, at));
    return flags;
}

/* Maps new memory of GPU 0 that nobody else has a handle to, open to it. */
static inline void fill_range(CUdeviceptr at, size_t bytes)
{
    CUmemGenericAllocationHandle handle = create(0, bytes);
    ck_success(cx_emu_call_mem_map(at, bytes, 0, handle, 0));
    ck_success(cx_emu_call_mem_release(handle));
    open_to(at, bytes, 0);
}

static inline void give_back(CUdeviceptr range, size_t bytes)
{
    ck_success(cx_emu_call_mem_unmap(range, bytes));
    ck_success(cx_emu_call_mem_address_free(range, bytes));
}

/* Most tests have a range of four chunks. */
static inline void give_back_rest(CUdeviceptr range)
{
    ck_success(cx_emu_call_mem_address_free(range, 4 * CHUNK));
}

static inline cxu_result create_with(cxu_mem_properties properties, size_t bytes)
{
    CUmemGenericAllocationHandle handle = 77;
    cxu_result result = cx_emu_call_mem_create(&handle, bytes, &properties, 0);
    ck_assert_uint_eq(handle, 77);
    return result;
}

#endif
