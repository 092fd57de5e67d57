BASE_FILES = tests/base/check_base.c tests/base/check_section.c tests/base/check_fork.c
check_PROGRAMS += tests/base/checks_base
CHECK_FILES += $(BASE_FILES)
$(BASE_FILES:.c=$(EXEEXT)): tests/base/checks_base$(EXEEXT) ; $(LINK_CHECK)
tests_base_checks_base_SOURCES = $(BASE_FILES)
tests_base_checks_base_LDADD = tests/support/libsupport.la lib/base/libbase.la $(CHECK_LIBS)

# With the check of the lock order whatever the build has.
check_PROGRAMS += tests/base/check_lock
TESTS += tests/base/check_lock
tests_base_check_lock_SOURCES = tests/base/check_lock.c lib/base/lock.c
tests_base_check_lock_CPPFLAGS = $(AM_CPPFLAGS) -DCX_LOCKS_CHECKED=1
tests_base_check_lock_LDADD = tests/support/libsupport.la $(CHECK_LIBS)
