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
tests/infinirt/%.o: private AM_CPPFLAGS += $(INFINIRT_CPPFLAGS)
INFINIRT_FILES = tests/infinirt/check_device.c tests/infinirt/check_foreign.c tests/infinirt/check_handle.c \
	tests/infinirt/check_work.c
check_PROGRAMS += tests/infinirt/checks_infinirt
CHECK_FILES += $(INFINIRT_FILES)
$(INFINIRT_FILES:.c=$(EXEEXT)): tests/infinirt/checks_infinirt$(EXEEXT) ; $(LINK_CHECK)
tests_infinirt_checks_infinirt_SOURCES = $(INFINIRT_FILES) tests/infinirt/infini.c tests/infinirt/infini.h
tests_infinirt_checks_infinirt_LDADD = lib/libinfinirt.la $(PUBLIC_LIBS)
EXTRA_tests_infinirt_checks_infinirt_DEPENDENCIES = $(cuda13lib_LTLIBRARIES)

# The library shows only its 40 functions: this one has the table in itself.
check_PROGRAMS += tests/infinirt/check_address
TESTS += tests/infinirt/check_address
tests_infinirt_check_address_SOURCES = tests/infinirt/check_address.c lib/infinirt/address.c lib/infinirt/address.h
tests_infinirt_check_address_CPPFLAGS = $(AM_CPPFLAGS)
tests_infinirt_check_address_LDADD = tests/support/libsupport.la $(CHECK_LIBS)
