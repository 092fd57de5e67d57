#include "shim/shim.h"

const int cx_shim_version = CX_SHIM_VERSION;
