/* Memory of a GPU that goes to another process of the node as a file descriptor. */
#ifndef MPI_EXPORTED_H
#define MPI_EXPORTED_H

#include <ctxrt/ctxrt.h>
#include <stdbool.h>

enum { REASON_BYTES = 160 };

typedef struct exported {
    unsigned long long handle; /* the driver's; 0: none */
    void *pointer;
    size_t bytes; /* as mapped */
} exported;

/* Makes memory of at least `bytes`, and a descriptor of it, which the caller closes. False: it
 * cannot be, and `reason` says why. In a scope of the device, as exported_open. */
bool exported_create(exported *self, const ctxrt_device_info *device, size_t bytes, int *out_file,
                     char reason[REASON_BYTES]);

/* Maps the memory of another process, of `bytes` there, for this device. */
bool exported_open(exported *self, const ctxrt_device_info *device, size_t bytes, int file,
                   char reason[REASON_BYTES]);

/* Nothing may use it any more. */
void exported_close(exported *self);

#endif
