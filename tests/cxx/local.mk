# The header for C++: its guards over the embedded driver, and the code that compilers make of them.
if HAVE_CXX
check_PROGRAMS += tests/cxx/guards
tests_cxx_guards_SOURCES = tests/cxx/guards.cc
tests_cxx_guards_CXXFLAGS = -std=c++17 -Wall -Wextra -Wpedantic $(AM_CXXFLAGS)
tests_cxx_guards_LDADD = lib/libctxrt.la
check_PROGRAMS += tests/cxx/calls
tests_cxx_calls_SOURCES = tests/cxx/calls.cc
tests_cxx_calls_CXXFLAGS = -std=c++17 -Wall -Wextra -Wpedantic $(AM_CXXFLAGS)
tests_cxx_calls_LDADD = lib/libctxrt.la
endif
CXX_SH = tests/cxx/guards.sh tests/cxx/calls.sh tests/cxx/compilers.sh
dist_check_SCRIPTS += $(CXX_SH)
TESTS += $(CXX_SH)
EXTRA_DIST += tests/cxx/calls.cc tests/cxx/guards.cc tests/cxx/same.c tests/cxx/same.cc tests/cxx/same.h
