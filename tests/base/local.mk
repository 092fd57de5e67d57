check_PROGRAMS += tests/base/check_base
TESTS += tests/base/check_base
tests_base_check_base_SOURCES = tests/base/check_base.c
tests_base_check_base_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/support
tests_base_check_base_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_base_check_base_LDADD = tests/support/libsupport.la lib/base/libbase.la $(CHECK_LIBS)

check_PROGRAMS += tests/base/check_section
TESTS += tests/base/check_section
tests_base_check_section_SOURCES = tests/base/check_section.c
tests_base_check_section_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/support
tests_base_check_section_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_base_check_section_LDADD = tests/support/libsupport.la lib/base/libbase.la $(CHECK_LIBS)

check_PROGRAMS += tests/base/check_fork
TESTS += tests/base/check_fork
tests_base_check_fork_SOURCES = tests/base/check_fork.c
tests_base_check_fork_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/support
tests_base_check_fork_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_base_check_fork_LDADD = tests/support/libsupport.la lib/base/libbase.la $(CHECK_LIBS)

# With the check of the lock order whatever the build has.
check_PROGRAMS += tests/base/check_lock
TESTS += tests/base/check_lock
tests_base_check_lock_SOURCES = tests/base/check_lock.c lib/base/lock.c
tests_base_check_lock_CPPFLAGS = $(AM_CPPFLAGS) -DCX_LOCKS_CHECKED=1 -I$(top_srcdir)/tests/support
tests_base_check_lock_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_base_check_lock_LDADD = tests/support/libsupport.la $(CHECK_LIBS)
