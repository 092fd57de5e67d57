#include "runtime/driver.h"

const int cx_cudart_version = 11080;
