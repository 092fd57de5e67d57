#define CX_CUDART_ENTRIES "lib/runtime/entries-12.def"
#include "runtime/entries.h"
