/* The kernels as C. */
#include "kernels.h"
