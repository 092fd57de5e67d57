/* What the calls of the test double return: the mark of how they were found, plus the slot. */
#ifndef CX_TEST_FAKE_H
#define CX_TEST_FAKE_H

enum { BY_SYMBOL = 10000, BY_NAME = 20000, FAKE_NEW_RESULT = 77777 };

#endif
