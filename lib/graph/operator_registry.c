/* The operator registry: the implementation of an operator type on a device type. */
#include "base/error.h"
#include "device/runtime.h"
#include "graph/operator.h"
#include <ctxrt/device.h>
#include <stdlib.h>
#include <string.h>

/* A record in the table stays as it is for the life of the process. */
typedef struct registered {
    char type[CX_OPERATOR_TYPE_BYTES];
    ctxrt_operator_implementation implementation;
    struct registered *next;
} registered;

#define BUCKETS 64

static registered *_Atomic table[CTXRT_DEVICE_TYPE_COUNT][BUCKETS];

static registered *_Atomic *bucket_of(ctxrt_device_type device_type, const char *type)
{
    uint32_t hash = 2166136261u;
    for (; *type != '\0'; type++)
        hash = (hash ^ (unsigned char)*type) * 16777619u;
    return &table[device_type][hash % BUCKETS];
}

/* Of a bucket's first record and those behind it. */
static const registered *find_from(const registered *first, const char *type)
{
    while (first != NULL && strcmp(first->type, type) != 0)
        first = first->next;
    return first;
}

static const registered *find_registered(ctxrt_device_type device_type, const char *type)
{
    return find_from(atomic_load_explicit(bucket_of(device_type, type), memory_order_acquire),
                     type);
}

static ctxrt_status check_key(const char *call, ctxrt_device_type device_type, const char *type)
{
    if (type == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "%s: operator_type is NULL", call);
    if ((unsigned int)device_type >= CTXRT_DEVICE_TYPE_COUNT)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s: there is no device type %d", call,
                        (int)device_type);
    if (type[0] == '\0' || strlen(type) >= CX_OPERATOR_TYPE_BYTES)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "%s: an operator type has a name of 1 to %d bytes", call,
                        CX_OPERATOR_TYPE_BYTES - 1);
    return CTXRT_SUCCESS;
}

static ctxrt_status check_implementation(const ctxrt_operator_implementation *implementation)
{
    if (implementation == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER,
                        "ctxrt_operator_register: implementation is NULL");
    if (implementation->struct_size != sizeof *implementation)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "ctxrt_operator_register: struct_size is %zu, not %zu",
                        implementation->struct_size, sizeof *implementation);
    if (implementation->run == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER,
                        "ctxrt_operator_register: implementation->run is NULL");
    return CTXRT_SUCCESS;
}

/* False: the type is registered already. */
static bool add_registered(ctxrt_device_type device_type, registered *added)
{
    registered *_Atomic *bucket = bucket_of(device_type, added->type);
    added->next = atomic_load(bucket);
    do {
        if (find_from(added->next, added->type) != NULL)
            return false;
    } while (!atomic_compare_exchange_weak(bucket, &added->next, added));
    return true;
}

ctxrt_status ctxrt_operator_register(ctxrt_device_type device_type, const char *operator_type,
                                     const ctxrt_operator_implementation *implementation)
{
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = check_key("ctxrt_operator_register", device_type, operator_type);
    if (status == CTXRT_SUCCESS)
        status = check_implementation(implementation);
    if (status != CTXRT_SUCCESS)
        return status;
    registered *added = calloc(1, sizeof *added);
    if (added == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory to register an operator");
    strcpy(added->type, operator_type);
    added->implementation = *implementation;
    if (add_registered(device_type, added))
        return CTXRT_SUCCESS;
    free(added);
    return cx_error(CTXRT_ERROR_ALREADY, "there is an operator \"%s\" for %s devices already",
                    operator_type, ctxrt_device_type_name(device_type));
}

ctxrt_status ctxrt_operator_find(ctxrt_device_type device_type, const char *operator_type,
                                 ctxrt_operator_implementation *out_implementation)
{
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = check_key("ctxrt_operator_find", device_type, operator_type);
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_implementation == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER,
                        "ctxrt_operator_find: out_implementation is NULL");
    const registered *found = find_registered(device_type, operator_type);
    if (found == NULL)
        return cx_error(
            CTXRT_ERROR_NOT_SUPPORTED,
            "there is no operator \"%s\" for %s devices: call ctxrt_operator_register first",
            operator_type, ctxrt_device_type_name(device_type));
    *out_implementation = found->implementation;
    return CTXRT_SUCCESS;
}
