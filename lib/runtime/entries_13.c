#define CX_CUDART_ENTRIES "lib/runtime/entries-13.def"
#include "runtime/entries.h"
