#include "driver/entry.h"

#include <stddef.h>

__attribute__((tls_model("initial-exec"))) _Thread_local cx_entry cx_entry_now;
__attribute__((tls_model("initial-exec"))) _Thread_local const void *cx_entry_caller;
__attribute__((tls_model("initial-exec"))) _Thread_local const cx_entry_origin *cx_entry_origin_now;
