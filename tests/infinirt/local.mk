# Programs that know infinirt.h and nothing else of ctxrt's.
INFINIRT_CPPFLAGS = -I$(top_srcdir)/include/infinirt
INFINIRT_CLIENTS = tests/infinirt/client_c
if HAVE_CXX
INFINIRT_CLIENTS += tests/infinirt/client_cxx
endif
check_PROGRAMS += $(INFINIRT_CLIENTS) tests/infinirt/table
dist_check_SCRIPTS += tests/infinirt/clients.sh tests/infinirt/table.sh
TESTS += tests/infinirt/clients.sh tests/infinirt/table.sh

tests_infinirt_client_c_SOURCES = tests/infinirt/client_c.c tests/infinirt/layout.h
tests_infinirt_client_c_CPPFLAGS = $(INFINIRT_CPPFLAGS)
tests_infinirt_client_c_LDADD = lib/libinfinirt.la
EXTRA_tests_infinirt_client_c_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

tests_infinirt_client_cxx_SOURCES = tests/infinirt/client_cxx.cc tests/infinirt/layout.h
tests_infinirt_client_cxx_CPPFLAGS = $(INFINIRT_CPPFLAGS)
tests_infinirt_client_cxx_CXXFLAGS = -std=c++17 -Wall -Wextra -Wpedantic $(AM_CXXFLAGS)
tests_infinirt_client_cxx_LDADD = lib/libinfinirt.la
EXTRA_tests_infinirt_client_cxx_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

tests_infinirt_table_SOURCES = tests/infinirt/table.c tests/infinirt/rows.def
tests_infinirt_table_CPPFLAGS = $(INFINIRT_CPPFLAGS)
tests_infinirt_table_LDADD = lib/libinfinirt.la

# These look from the inside of ctxrt's public interface at what the other one did.
INFINIRT_TESTS = tests/infinirt/check_device tests/infinirt/check_foreign tests/infinirt/check_handle \
	tests/infinirt/check_work
check_PROGRAMS += $(INFINIRT_TESTS)
TESTS += $(INFINIRT_TESTS)
INFINIRT_TEST_SOURCES = tests/infinirt/infini.c tests/infinirt/infini.h
INFINIRT_TEST_CPPFLAGS = $(AM_CPPFLAGS) $(INFINIRT_CPPFLAGS) -I$(top_srcdir)/tests/support
INFINIRT_TEST_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
INFINIRT_TEST_LIBS = lib/libinfinirt.la $(PUBLIC_LIBS)

tests_infinirt_check_device_SOURCES = tests/infinirt/check_device.c $(INFINIRT_TEST_SOURCES)
tests_infinirt_check_device_CPPFLAGS = $(INFINIRT_TEST_CPPFLAGS)
tests_infinirt_check_device_CFLAGS = $(INFINIRT_TEST_CFLAGS)
tests_infinirt_check_device_LDADD = $(INFINIRT_TEST_LIBS)

tests_infinirt_check_handle_SOURCES = tests/infinirt/check_handle.c $(INFINIRT_TEST_SOURCES)
tests_infinirt_check_handle_CPPFLAGS = $(INFINIRT_TEST_CPPFLAGS)
tests_infinirt_check_handle_CFLAGS = $(INFINIRT_TEST_CFLAGS)
tests_infinirt_check_handle_LDADD = $(INFINIRT_TEST_LIBS)

tests_infinirt_check_work_SOURCES = tests/infinirt/check_work.c $(INFINIRT_TEST_SOURCES)
tests_infinirt_check_work_CPPFLAGS = $(INFINIRT_TEST_CPPFLAGS)
tests_infinirt_check_work_CFLAGS = $(INFINIRT_TEST_CFLAGS)
tests_infinirt_check_work_LDADD = $(INFINIRT_TEST_LIBS)

tests_infinirt_check_foreign_SOURCES = tests/infinirt/check_foreign.c $(INFINIRT_TEST_SOURCES)
tests_infinirt_check_foreign_CPPFLAGS = $(INFINIRT_TEST_CPPFLAGS)
tests_infinirt_check_foreign_CFLAGS = $(INFINIRT_TEST_CFLAGS)
tests_infinirt_check_foreign_LDADD = $(INFINIRT_TEST_LIBS)
EXTRA_tests_infinirt_check_foreign_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

# The library shows only its 40 functions: this one has the table in itself.
check_PROGRAMS += tests/infinirt/check_address
TESTS += tests/infinirt/check_address
tests_infinirt_check_address_SOURCES = tests/infinirt/check_address.c lib/infinirt/address.c lib/infinirt/address.h
tests_infinirt_check_address_CPPFLAGS = $(INFINIRT_TEST_CPPFLAGS)
tests_infinirt_check_address_CFLAGS = $(INFINIRT_TEST_CFLAGS)
tests_infinirt_check_address_LDADD = tests/support/libsupport.la $(CHECK_LIBS)
