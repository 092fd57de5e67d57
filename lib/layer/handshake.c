#include "layer/handshake.h"

#include "driver/cuda_abi.h"

#include <dlfcn.h>
#include <stdint.h>

const cx_handshake *cx_handshake_with(void *library)
{
    typedef cxu_result (*proc_address)(const char *, void **, int, uint64_t);
    proc_address ask;
    void *found = NULL;
    *(void **)&ask = dlsym(library, "cuGetProcAddress");
    if (ask == NULL || ask(CX_HANDSHAKE_NAME, &found, 12000, 0) != CXU_SUCCESS || found == NULL)
        return NULL;
    const cx_handshake *answer = found;
    return answer->size >= sizeof *answer ? answer : NULL;
}
