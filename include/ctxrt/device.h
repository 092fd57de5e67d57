/**
 * Devices: the list of them, the calling thread's current one, their primary contexts and peers.
 *
 * A device is named by its type and its index within the type. The type CPU always has one device;
 * CUDA has those of libcuda or of the embedded driver; the others exist with count 0.
 *
 * The process holds one retain of the primary context of each device it has used, and keeps it
 * until ctxrt_device_release or ctxrt_shutdown. No function touches a device that nobody named.
 * Every function here is thread-safe; those that use the calling thread's device work on the top
 * frame of that thread's stack (see stack.h).
 *
 * Besides the errors named at each function: CTXRT_ERROR_INVALID_DEVICE for a device that does not
 * exist; CTXRT_ERROR_NO_DEVICE if the function uses the current context and there is none.
 */
#ifndef CTXRT_DEVICE_H
#define CTXRT_DEVICE_H

#include <ctxrt/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The list of device types: X(name, value, text). */
#define CTXRT_DEVICE_TYPE_LIST(X)                                                                 \
    X(CPU, 0, "cpu")                                                                              \
    X(CUDA, 1, "cuda")                                                                            \
    X(CAMBRICON, 2, "cambricon")                                                                  \
    X(ASCEND, 3, "ascend")                                                                        \
    X(METAX, 4, "metax")                                                                          \
    X(MOORE, 5, "moore")                                                                          \
    X(ILUVATAR, 6, "iluvatar")                                                                    \
    X(KUNLUN, 7, "kunlun")                                                                        \
    X(HYGON, 8, "hygon")                                                                          \
    X(QY, 9, "qy")                                                                                \
    X(ALI, 10, "ali")

typedef enum ctxrt_device_type {
#define CTXRT_DEVICE_TYPE_ENUM(name, value, text) CTXRT_DEVICE_##name = value,
    CTXRT_DEVICE_TYPE_LIST(CTXRT_DEVICE_TYPE_ENUM)
#undef CTXRT_DEVICE_TYPE_ENUM
    CTXRT_DEVICE_TYPE_COUNT
} ctxrt_device_type;

typedef struct ctxrt_device {
    ctxrt_device_type type;
    int index;
} ctxrt_device;

/** A ctxrt_device value: ctxrt_device_of(CTXRT_DEVICE_CUDA, 1). */
static inline ctxrt_device ctxrt_device_of(ctxrt_device_type type, int index)
{
    ctxrt_device device;
    device.type = type;
    device.index = index;
    return device;
}

#define CTXRT_CPU(index) ctxrt_device_of(CTXRT_DEVICE_CPU, (index))
#define CTXRT_CUDA(index) ctxrt_device_of(CTXRT_DEVICE_CUDA, (index))

/** "cpu", "cuda" and so on; "unknown" for a value that is none. Never NULL. */
CTXRT_API const char *ctxrt_device_type_name(ctxrt_device_type type);

/**
 * Counts the devices of a type; 0 is no error. If libcuda could not be loaded, the count of CUDA is
 * 0 and ctxrt_drivers says why.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  no such type
 */
CTXRT_API ctxrt_status ctxrt_device_count(ctxrt_device_type type,
                                          int *out_count) CTXRT_CHECK_RESULT;

/** Counts the devices of all types: writes CTXRT_DEVICE_TYPE_COUNT numbers, indexed by type. */
CTXRT_API ctxrt_status ctxrt_device_count_all(int *out_counts) CTXRT_CHECK_RESULT;

typedef struct ctxrt_device_info {
    char name[256];
    unsigned char uuid[16];
    char pci_bus_id[16];   /**< "0000:01:00.0"; "" for a device that has none */
    size_t total_bytes;
    int compute_major;
    int compute_minor;
    int multiprocessors;
    int warp_size;
    int max_threads_per_block;
    int clock_khz;
    int memory_clock_khz;
    int memory_bus_bits;
    int integrated;
    int unified_addressing;
    int can_map_host_memory;
    int managed_memory;
    int host_accessible;   /**< 1 if the host may touch this device's memory: the CPU device */
    int emulated;          /**< 1 if the embedded driver plays it */
    int texture_alignment_bytes;
    int driver_ordinal;    /**< the device's number at its driver */
    /** 1 if the host may use managed memory while the device does */
    int concurrent_managed_access;
    int cluster_launch;    /**< 1 if launches may have clusters (module.h) */
} ctxrt_device_info;

/**
 * Describes a device. Makes no context.
 *
 * @param out_info  its name, memory, limits and abilities
 */
CTXRT_API ctxrt_status ctxrt_device_properties(ctxrt_device device,
                                               ctxrt_device_info *out_info) CTXRT_CHECK_RESULT;

/**
 * Free and total memory of a device in bytes. Makes no context where that can be told without one:
 * of emulated devices and the CPU, and of a device whose primary context exists already, which is
 * then retained for the length of the call. Another device's primary context is retained as by a
 * first use. Leaves the calling thread's stack as it was. Either pointer may be NULL, not both.
 * For the CPU, free memory is what the system can give to programs (MemAvailable).
 */
CTXRT_API ctxrt_status ctxrt_device_memory_info(ctxrt_device device, size_t *out_free_bytes,
                                                size_t *out_total_bytes) CTXRT_CHECK_RESULT;

/**
 * Makes a device the calling thread's current one: its primary context becomes current.
 * The first set at a level of the stack retains the primary context and pushes it, as an override
 * that belongs to that level; later sets at the same level replace the override, so that a loop
 * over devices keeps the depth, and a context pushed with ctxrt_stack_push is never overwritten.
 * The frame starts with the thread's default stream and the default allocator of that context;
 * setting the device that is set already changes nothing.
 *
 * @retval CTXRT_ERROR_INVALID_DEVICE   no such device; the message says why the type has none
 * @retval CTXRT_ERROR_STACK_FULL       too many frames
 * @retval CTXRT_ERROR_STACK_MISMATCH   other code changed the stack and the policy is `error`
 * @retval CTXRT_ERROR_DRIVER           the driver refused; the device is what it was
 */
CTXRT_API ctxrt_status ctxrt_device_set(ctxrt_device device) CTXRT_CHECK_RESULT;

/**
 * Pushes the primary context of a device as a frame of its own, whatever is current. Balance with
 * ctxrt_stack_pop on the same thread. Errors as ctxrt_device_set.
 */
CTXRT_API ctxrt_status ctxrt_device_push(ctxrt_device device) CTXRT_CHECK_RESULT;

/**
 * The device of the calling thread's current context.
 *
 * @retval CTXRT_ERROR_NO_DEVICE  no frame and no current context
 */
CTXRT_API ctxrt_status ctxrt_device_get(ctxrt_device *out_device) CTXRT_CHECK_RESULT;

/** Waits for all work of the calling thread's current context. */
CTXRT_API ctxrt_status ctxrt_device_synchronize(void) CTXRT_CHECK_RESULT;

/**
 * Gives back the process's retain of a device's primary context, and with it everything ctxrt keeps
 * there: pooled streams, cached memory. A device never used is no error.
 *
 * Thread-safe: no other thread begins to use the context while this call checks for references, so
 * other threads do not notice a refused release. A thread that uses the device anew waits for the
 * release.
 *
 * @retval CTXRT_ERROR_IN_USE  a frame of any thread, or an object of the caller's, still refers to
 *                             the primary context; the message names it; nothing changed
 * @retval CTXRT_ERROR_DRIVER  the driver refused; the device is in use as before, but cached memory
 *                             and pooled streams may have been given back
 */
CTXRT_API ctxrt_status ctxrt_device_release(ctxrt_device device) CTXRT_CHECK_RESULT;

/**
 * Destroys everything in a device's primary context and starts it anew, with the retain kept.
 * Objects that were made in it stay valid handles that report CTXRT_ERROR_CONTEXT_DESTROYED when
 * used, and must still be destroyed or released. Frames that hold the primary context stay usable.
 *
 * Thread-safe. The reset waits for calls of other threads that are under way in the context,
 * including those that wait for its work, and for work in streams of other contexts that uses
 * memory of the context (memory.h); calls that begin later wait until the reset is over. Such work
 * behind a kernel that never ends is waited for until that kernel's device is reset, too.
 * After it, older objects are gone, and everything else works as before. A host function that waits
 * for another thread's call of ctxrt can therefore keep a reset from ending.
 *
 * @retval CTXRT_ERROR_DRIVER  the driver refused; nothing changed, but for copies between two
 *     drivers, which were ended. If the message says that the device was reset, but cannot be used,
 *     the reset was done; the device's calls fail until another reset succeeds
 */
CTXRT_API ctxrt_status ctxrt_device_reset(ctxrt_device device) CTXRT_CHECK_RESULT;

/** Finds the device with a 16-byte UUID. CTXRT_ERROR_INVALID_DEVICE if there is none. */
CTXRT_API ctxrt_status ctxrt_device_by_uuid(const unsigned char uuid[16],
                                            ctxrt_device *out_device) CTXRT_CHECK_RESULT;

/**
 * Finds the device at a PCI address, "0000:01:00.0". CTXRT_ERROR_INVALID_DEVICE if there is none.
 *
 * @param bus_id  domain, bus, device and function, as in the example
 */
CTXRT_API ctxrt_status ctxrt_device_by_pci(const char *bus_id,
                                           ctxrt_device *out_device) CTXRT_CHECK_RESULT;

/**
 * Flags of a context (the driver's CU_CTX_*), such as how the host waits for its work.
 */
enum {
    CTXRT_CONTEXT_SCHED_AUTO = 0x00,
    CTXRT_CONTEXT_SCHED_SPIN = 0x01,
    CTXRT_CONTEXT_SCHED_YIELD = 0x02,
    CTXRT_CONTEXT_SCHED_BLOCKING_SYNC = 0x04,
    CTXRT_CONTEXT_MAP_HOST = 0x08,
    CTXRT_CONTEXT_LMEM_RESIZE_TO_MAX = 0x10
};

/**
 * Sets the flags of a device's primary context, active or not.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  the driver has no such flags
 */
CTXRT_API ctxrt_status ctxrt_device_set_primary_flags(ctxrt_device device,
                                                      unsigned int flags) CTXRT_CHECK_RESULT;

/**
 * Tells whether `device` can reach the memory of `peer` directly; a device is never its own peer.
 * Devices of different types or drivers have no peer access (0, no error).
 */
CTXRT_API ctxrt_status ctxrt_device_can_access_peer(ctxrt_device device, ctxrt_device peer,
                                                    int *out_can) CTXRT_CHECK_RESULT;

/**
 * Lets the calling thread's current context reach the memory of `peer`'s primary context, which is
 * retained if need be. One direction only.
 *
 * @retval CTXRT_ERROR_ALREADY        enabled before
 * @retval CTXRT_ERROR_NOT_SUPPORTED  the two devices have no peer access
 */
CTXRT_API ctxrt_status ctxrt_device_enable_peer(ctxrt_device peer) CTXRT_CHECK_RESULT;

/**
 * Ends what ctxrt_device_enable_peer began. Calls that copy or fill beside it are not disturbed;
 * queued work of the context that uses the peer's memory must be done before.
 * CTXRT_ERROR_INVALID_ARGUMENT if it is not enabled.
 */
CTXRT_API ctxrt_status ctxrt_device_disable_peer(ctxrt_device peer) CTXRT_CHECK_RESULT;

/**
 * An operator library's handle (cuBLAS, a kernel library ...): one of each kind for each device,
 * made on first use, destroyed before anything else of the device's primary context goes.
 * `create` is called with the device current on the calling thread, under a lock that lets one
 * handle be made at a time; it may use ctxrt, and ask for handles of other kinds. `destroy` is
 * called with the context current at its driver, and must not call ctxrt. After ctxrt_device_reset
 * a handle is made anew; `destroy` is not called for the old one, since the reset destroyed its
 * contents.
 */
typedef ctxrt_status (*ctxrt_handle_create)(ctxrt_device device, void *user_data,
                                            void **out_handle);
typedef void (*ctxrt_handle_destroy)(void *handle, void *user_data);

/**
 * Registers the functions that make and destroy handles of a kind, once for the life of the
 * process.
 *
 * @param create, destroy  as ctxrt_handle_create says
 * @param user_data  passed to both
 * @param kind  a name of 1 to 31 bytes, copied
 * @retval CTXRT_ERROR_ALREADY  the kind is registered
 */
CTXRT_API ctxrt_status ctxrt_handle_register(const char *kind, ctxrt_handle_create create,
                                             ctxrt_handle_destroy destroy,
                                             void *user_data) CTXRT_CHECK_RESULT;

/**
 * The handle of a kind for a device. Borrowed. Leaves the calling thread's stack as it was.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  no such kind is registered
 * Other errors are those of `create`.
 */
CTXRT_API ctxrt_status ctxrt_handle_get(ctxrt_device device, const char *kind,
                                        void **out_handle) CTXRT_CHECK_RESULT;

#ifdef __cplusplus
}
#endif

#endif
