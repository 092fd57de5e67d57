#define CX_CUDART_ENTRIES "lib/runtime/entries-11.def"
#include "runtime/entries.h"
