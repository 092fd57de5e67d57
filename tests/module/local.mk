MODULE_TESTS = tests/module/check_launch tests/module/check_module
check_PROGRAMS += $(MODULE_TESTS)
TESTS += $(MODULE_TESTS)
MODULE_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/support -I$(top_srcdir)/tests/runtime

tests_module_check_launch_SOURCES = tests/module/check_launch.c tests/module/code.h
tests_module_check_launch_CPPFLAGS = $(MODULE_CPPFLAGS)
tests_module_check_launch_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_module_check_launch_LDADD = $(PUBLIC_LIBS)
EXTRA_tests_module_check_launch_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

tests_module_check_module_SOURCES = tests/module/check_module.c tests/module/code.h
tests_module_check_module_CPPFLAGS = $(MODULE_CPPFLAGS)
tests_module_check_module_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_module_check_module_LDADD = $(PUBLIC_LIBS)
EXTRA_tests_module_check_module_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)
