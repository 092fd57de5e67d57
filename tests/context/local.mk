CONTEXT_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/support
CONTEXT_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)

check_PROGRAMS += tests/context/check_use
TESTS += tests/context/check_use
tests_context_check_use_SOURCES = tests/context/check_use.c
tests_context_check_use_CPPFLAGS = $(CONTEXT_CPPFLAGS)
tests_context_check_use_CFLAGS = $(CONTEXT_CFLAGS)
tests_context_check_use_LDADD = $(INSIDE_LIBS)

check_PROGRAMS += tests/context/check_refused
TESTS += tests/context/check_refused
tests_context_check_refused_SOURCES = tests/context/check_refused.c
tests_context_check_refused_CPPFLAGS = $(CONTEXT_CPPFLAGS)
tests_context_check_refused_CFLAGS = $(CONTEXT_CFLAGS)
tests_context_check_refused_LDADD = $(INSIDE_LIBS)
