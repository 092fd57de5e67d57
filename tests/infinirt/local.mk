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
