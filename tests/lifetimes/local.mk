# Other code acts through the driver's table, so the program links the rooms.
check_PROGRAMS += tests/lifetimes/table
tests_lifetimes_table_SOURCES = tests/lifetimes/table.c tests/lifetimes/object.c tests/lifetimes/object.h
tests_lifetimes_table_LDADD = $(INSIDE_LIBS)
dist_check_SCRIPTS += tests/lifetimes/table.sh
TESTS += tests/lifetimes/table.sh

check_PROGRAMS += tests/lifetimes/check_foreign_contexts
TESTS += tests/lifetimes/check_foreign_contexts
tests_lifetimes_check_foreign_contexts_SOURCES = tests/lifetimes/check_foreign_contexts.c
tests_lifetimes_check_foreign_contexts_LDADD = $(INSIDE_LIBS)
