/* What other.c answers. */
#ifndef CX_TEST_OTHER_H
#define CX_TEST_OTHER_H

#include <stdbool.h>

enum { OTHER_VERSION = 12040, OTHER_WHOLE = 4711, OTHER_STATUS = 17 };

/* The function of the library that was called last. */
const char *other_called(void);

#endif
