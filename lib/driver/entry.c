#include "driver/entry.h"

__attribute__((tls_model("initial-exec"))) _Thread_local cx_entry cx_entry_now;
__attribute__((tls_model("initial-exec"))) _Thread_local const void *cx_entry_caller;
