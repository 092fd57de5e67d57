/* Closes files without a cancellation point. */
#ifndef CX_BASE_FILE_H
#define CX_BASE_FILE_H

#include "base/cancel.h"
#include <unistd.h>

static inline void cx_file_close(int file)
{
    int cancel = cx_cancel_hold();
    close(file);
    cx_cancel_restore(cancel);
}

#endif
