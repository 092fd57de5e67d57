RUNTIME_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/support
RUNTIME_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)

RUNTIME_TESTS = \
	tests/runtime/check_stack
check_PROGRAMS += $(RUNTIME_TESTS)
TESTS += $(RUNTIME_TESTS)

tests_runtime_check_stack_SOURCES = tests/runtime/check_stack.c
tests_runtime_check_stack_CPPFLAGS = $(RUNTIME_CPPFLAGS)
tests_runtime_check_stack_CFLAGS = $(RUNTIME_CFLAGS)
tests_runtime_check_stack_LDADD = $(PUBLIC_LIBS)
