# The guest plays other code through the driver's table, so its programs link the rooms.
GUEST_SOURCES = tests/guest/guest.c tests/guest/guest.h tests/guest/play.c tests/guest/play.h

check_PROGRAMS += tests/guest/table
tests_guest_table_SOURCES = tests/guest/table.c $(GUEST_SOURCES)
tests_guest_table_LDADD = $(INSIDE_LIBS)
dist_check_SCRIPTS += tests/guest/table.sh
TESTS += tests/guest/table.sh

check_PROGRAMS += tests/guest/check_random
TESTS += tests/guest/check_random
tests_guest_check_random_SOURCES = tests/guest/check_random.c tests/guest/model.c tests/guest/model.h
tests_guest_check_random_LDADD = $(INSIDE_LIBS)
