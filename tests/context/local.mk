CONTEXT_FILES = tests/context/check_use.c tests/context/check_refused.c
check_PROGRAMS += tests/context/checks_context
CHECK_FILES += $(CONTEXT_FILES)
$(CONTEXT_FILES:.c=$(EXEEXT)): tests/context/checks_context$(EXEEXT) ; $(LINK_CHECK)
tests_context_checks_context_SOURCES = $(CONTEXT_FILES)
tests_context_checks_context_LDADD = $(INSIDE_LIBS)
