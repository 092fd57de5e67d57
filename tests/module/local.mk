tests/module/%.o: private AM_CPPFLAGS += -I$(top_srcdir)/tests/runtime

MODULE_FILES = tests/module/check_launch.c tests/module/check_module.c
check_PROGRAMS += tests/module/checks_module
CHECK_FILES += $(MODULE_FILES)
$(MODULE_FILES:.c=$(EXEEXT)): tests/module/checks_module$(EXEEXT) ; $(LINK_CHECK)
tests_module_checks_module_SOURCES = $(MODULE_FILES) tests/module/code.h
tests_module_checks_module_LDADD = $(PUBLIC_LIBS)
EXTRA_tests_module_checks_module_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)
