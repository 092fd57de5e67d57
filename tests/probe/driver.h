/*
 * The driver's binary interface as far as the probe calls it, declared anew: neither cuda.h nor
 * anything of the project is included. Each call is a variable that holds the function, under the
 * exported name with its version.
 */
#ifndef PROBE_DRIVER_H
#define PROBE_DRIVER_H

#include <stddef.h>

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUgreenCtx_st *CUgreenCtx;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUuserObject_st *CUuserObject;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef struct CUdevResourceDesc_st *CUdevResourceDesc;
typedef void (*CUhostFn)(void *argument);
typedef void (*CUnotified)(void *notification, void *argument, void *handle);
typedef void (*CUlogged)(void *argument, int level, char *message, size_t length);
typedef void (*CUstreamCallback)(CUstream stream, CUresult status, void *argument);

/* A result of the probe's own: the driver does not export the call. */
enum { MISSING = -1000 };
enum { SUCCESS = 0, NOT_READY = 600 };

enum { STREAM_BLOCKING = 0, STREAM_NON_BLOCKING = 1 };
enum { EVENT_DEFAULT = 0, EVENT_DISABLE_TIMING = 2 };
enum { CAPTURE_GLOBAL = 0, CAPTURE_THREAD_LOCAL = 1, CAPTURE_RELAXED = 2 };
enum {
    LIMIT_STACK_SIZE = 0,
    LIMIT_PRINTF_SIZE = 1,
    LIMIT_MALLOC_HEAP_SIZE = 2,
    LIMIT_PENDING_LAUNCHES = 4,
    LIMIT_COUNT = 10
};
enum { ATTRIBUTE_CAPABILITY_MAJOR = 75, ATTRIBUTE_CAPABILITY_MINOR = 76 };
enum { P2P_PERFORMANCE_RANK = 1, P2P_ACCESS_SUPPORTED = 2 };
enum {
    POINTER_CONTEXT = 1,
    POINTER_MEMORY_TYPE = 2,
    POINTER_DEVICE_POINTER = 3,
    POINTER_HOST_POINTER = 4,
    POINTER_IS_MANAGED = 8,
    POINTER_ORDINAL = 9
};
#define STREAM_LEGACY ((CUstream)1)
#define STREAM_PER_THREAD ((CUstream)2)

/* A resource of a device, for green contexts; its size has grown with the versions. */
typedef struct CUdevResource {
    _Alignas(16) unsigned char bytes[1024];
} CUdevResource;

typedef struct CUmemAllocationProp {
    int type;
    int handle_types;
    int location_type;
    int location_id;
    void *windows_handle;
    unsigned char flags[8];
} CUmemAllocationProp;

typedef struct CUmemPoolProps {
    int type;
    int handle_types;
    int location_type;
    int location_id;
    void *windows_attributes;
    size_t max_bytes;
    unsigned char reserved[56];
} CUmemPoolProps;

typedef struct CUmemAccessDesc {
    int location_type;
    int location_id;
    int flags;
} CUmemAccessDesc;

typedef struct CUmemcpyAttributes {
    int order;
    int from_type, from_id;
    int to_type, to_id;
    unsigned int flags;
} CUmemcpyAttributes;

/* Of memory, and of an event. */
typedef struct CUipcHandle {
    char bytes[64];
} CUipcHandle;

/* Of a conditional node. */
typedef struct CUgraphNodeParams {
    int type;
    int reserved[3];
    unsigned long long handle;
    int condition;
    unsigned int size;
    CUgraph *bodies;
    CUcontext context;
    long long rest[26];
} CUgraphNodeParams;

typedef struct CUexecAffinity {
    int type;
    unsigned int multiprocessors;
} CUexecAffinity;

#ifdef __GNUC__
#pragma GCC visibility push(hidden)
#endif

#define CALL(symbol, parameters) extern CUresult(*symbol) parameters;
#include "calls.def"
#undef CALL

/* Fills the variables above; a call that is not exported returns MISSING. False: `path` cannot be
 * opened, see dlerror. */
_Bool driver_open(const char *path);

/*
 * "INVALID_VALUE(1)", or "missing". The text lasts for the next 15 calls on this thread. It asks
 * the driver for the name; after names_ask() it does not, for where a call could hang.
 */
const char *result_text(CUresult code);
void names_ask(void);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#endif
