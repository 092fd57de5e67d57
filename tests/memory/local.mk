# The parts of the allocator that need no driver.
MEMORY_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/support
MEMORY_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
MEMORY_LIBS = tests/support/libsupport.la $(CHECK_LIBS)

check_PROGRAMS += tests/memory/check_mapped_range
TESTS += tests/memory/check_mapped_range
tests_memory_check_mapped_range_SOURCES = tests/memory/check_mapped_range.c \
	lib/memory/mapped_range.c lib/memory/mapped_range.h
tests_memory_check_mapped_range_CPPFLAGS = $(MEMORY_CPPFLAGS)
tests_memory_check_mapped_range_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_mapped_range_LDADD = tests/support/libsupport.la lib/emu/libemu.la lib/driver/libdriver.la \
	lib/base/libbase.la $(CHECK_LIBS)

check_PROGRAMS += tests/memory/check_fit
TESTS += tests/memory/check_fit
tests_memory_check_fit_SOURCES = tests/memory/check_fit.c tests/support/random.h \
	lib/alloc/fit.c lib/alloc/fit.h lib/alloc/fit_store.c lib/alloc/fit_store.h
tests_memory_check_fit_CPPFLAGS = $(MEMORY_CPPFLAGS)
tests_memory_check_fit_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_fit_LDADD = $(MEMORY_LIBS) lib/base/libbase.la

check_PROGRAMS += tests/memory/check_fit_store
TESTS += tests/memory/check_fit_store
tests_memory_check_fit_store_SOURCES = tests/memory/check_fit_store.c \
	lib/alloc/fit_store.c lib/alloc/fit_store.h
tests_memory_check_fit_store_CPPFLAGS = $(MEMORY_CPPFLAGS)
tests_memory_check_fit_store_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_fit_store_LDADD = $(MEMORY_LIBS) lib/base/libbase.la

check_PROGRAMS += tests/memory/check_heap
TESTS += tests/memory/check_heap
tests_memory_check_heap_SOURCES = tests/memory/check_heap.c tests/memory/heap_bytes.h \
	lib/alloc/fit.c lib/alloc/fit.h lib/alloc/fit_store.c lib/alloc/fit_store.h \
	lib/alloc/heap.c lib/alloc/heap.h
tests_memory_check_heap_CPPFLAGS = $(MEMORY_CPPFLAGS)
tests_memory_check_heap_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_heap_LDADD = $(MEMORY_LIBS) lib/base/libbase.la

check_PROGRAMS += tests/memory/check_magazines
TESTS += tests/memory/check_magazines
tests_memory_check_magazines_SOURCES = tests/memory/check_magazines.c tests/support/random.h lib/memory/thread_cache.c lib/memory/thread_cache.h
tests_memory_check_magazines_CPPFLAGS = $(MEMORY_CPPFLAGS)
tests_memory_check_magazines_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_magazines_LDADD = $(MEMORY_LIBS)

check_PROGRAMS += tests/memory/check_thread_caches
TESTS += tests/memory/check_thread_caches
tests_memory_check_thread_caches_SOURCES = tests/memory/check_thread_caches.c
tests_memory_check_thread_caches_CPPFLAGS = $(MEMORY_CPPFLAGS)
tests_memory_check_thread_caches_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_thread_caches_LDADD = $(INSIDE_LIBS)

check_PROGRAMS += tests/memory/check_address_reuse
TESTS += tests/memory/check_address_reuse
tests_memory_check_address_reuse_SOURCES = tests/memory/check_address_reuse.c
tests_memory_check_address_reuse_CPPFLAGS = $(MEMORY_CPPFLAGS)
tests_memory_check_address_reuse_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_address_reuse_LDADD = $(INSIDE_LIBS)

check_PROGRAMS += tests/memory/check_endless
TESTS += tests/memory/check_endless
tests_memory_check_endless_SOURCES = tests/memory/check_endless.c
tests_memory_check_endless_CPPFLAGS = $(MEMORY_CPPFLAGS) -I$(top_srcdir)/tests/emu
tests_memory_check_endless_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_endless_LDADD = $(INSIDE_LIBS)

check_PROGRAMS += tests/memory/check_allocator_random
TESTS += tests/memory/check_allocator_random
tests_memory_check_allocator_random_SOURCES = tests/memory/check_allocator_random.c tests/memory/blocks.c \
	tests/memory/blocks.h \
	tests/memory/captured.c tests/memory/crowd.c tests/memory/crowd.h tests/memory/lane.c tests/memory/recorded.c tests/memory/shadow.c tests/memory/shadow.h
tests_memory_check_allocator_random_CPPFLAGS = $(MEMORY_CPPFLAGS)
tests_memory_check_allocator_random_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_allocator_random_LDADD = $(PUBLIC_LIBS)

# It runs itself under memcheck, and so needs no library of the build's.
check_PROGRAMS += tests/memory/check_resident
TESTS += tests/memory/check_resident
tests_memory_check_resident_SOURCES = tests/memory/check_resident.c
tests_memory_check_resident_CPPFLAGS = $(MEMORY_CPPFLAGS)
tests_memory_check_resident_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_resident_LDADD = $(INSIDE_LIBS)

check_PROGRAMS += tests/memory/check_direct
TESTS += tests/memory/check_direct
tests_memory_check_direct_SOURCES = tests/memory/check_direct.c tests/runtime/gate.h
tests_memory_check_direct_CPPFLAGS = $(MEMORY_CPPFLAGS) -I$(top_srcdir)/tests/runtime
tests_memory_check_direct_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_direct_LDADD = $(PUBLIC_LIBS)

check_PROGRAMS += tests/memory/check_capacity
TESTS += tests/memory/check_capacity
tests_memory_check_capacity_SOURCES = tests/memory/check_capacity.c
tests_memory_check_capacity_CPPFLAGS = $(MEMORY_CPPFLAGS)
tests_memory_check_capacity_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_capacity_LDADD = $(PUBLIC_LIBS)

check_PROGRAMS += tests/memory/check_guard
TESTS += tests/memory/check_guard
tests_memory_check_guard_SOURCES = tests/memory/check_guard.c tests/memory/guarded.h tests/runtime/gate.h \
	tests/runtime/log_lines.h
tests_memory_check_guard_CPPFLAGS = $(MEMORY_CPPFLAGS) -I$(top_srcdir)/tests/runtime
tests_memory_check_guard_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_guard_LDADD = $(INSIDE_LIBS)

check_PROGRAMS += tests/memory/check_guard_environment
TESTS += tests/memory/check_guard_environment
tests_memory_check_guard_environment_SOURCES = tests/memory/check_guard_environment.c tests/memory/guarded.h \
	tests/runtime/gate.h
tests_memory_check_guard_environment_CPPFLAGS = $(MEMORY_CPPFLAGS) -I$(top_srcdir)/tests/runtime
tests_memory_check_guard_environment_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_guard_environment_LDADD = $(INSIDE_LIBS)

check_PROGRAMS += tests/memory/check_mapped_heap
TESTS += tests/memory/check_mapped_heap
tests_memory_check_mapped_heap_SOURCES = tests/memory/check_mapped_heap.c tests/memory/heap_bytes.h \
	lib/alloc/fit.c lib/alloc/fit.h lib/alloc/fit_store.c lib/alloc/fit_store.h \
	lib/alloc/heap.c lib/alloc/heap.h \
	lib/memory/mapped_heap.c lib/memory/mapped_heap.h \
	lib/memory/mapped_range.c lib/memory/mapped_range.h
tests_memory_check_mapped_heap_CPPFLAGS = $(MEMORY_CPPFLAGS)
tests_memory_check_mapped_heap_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_mapped_heap_LDADD = $(tests_memory_check_mapped_range_LDADD) lib/base/libbase.la

check_PROGRAMS += tests/memory/check_allocator_info
TESTS += tests/memory/check_allocator_info
tests_memory_check_allocator_info_SOURCES = tests/memory/check_allocator_info.c
tests_memory_check_allocator_info_CPPFLAGS = $(MEMORY_CPPFLAGS)
tests_memory_check_allocator_info_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_allocator_info_LDADD = $(PUBLIC_LIBS)

check_PROGRAMS += tests/memory/check_report
TESTS += tests/memory/check_report
tests_memory_check_report_SOURCES = tests/memory/check_report.c tests/runtime/log_lines.h
tests_memory_check_report_CPPFLAGS = $(MEMORY_CPPFLAGS) -I$(top_srcdir)/tests/runtime
tests_memory_check_report_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_report_LDADD = $(PUBLIC_LIBS)

check_PROGRAMS += tests/memory/check_stream_events
TESTS += tests/memory/check_stream_events
tests_memory_check_stream_events_SOURCES = tests/memory/check_stream_events.c tests/runtime/gate.h
tests_memory_check_stream_events_CPPFLAGS = $(MEMORY_CPPFLAGS) -I$(top_srcdir)/tests/runtime
tests_memory_check_stream_events_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_stream_events_LDADD = $(INSIDE_LIBS)

check_PROGRAMS += tests/memory/check_pinned
TESTS += tests/memory/check_pinned
tests_memory_check_pinned_SOURCES = tests/memory/check_pinned.c tests/memory/pinned_memory.h
tests_memory_check_pinned_CPPFLAGS = $(MEMORY_CPPFLAGS)
tests_memory_check_pinned_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_pinned_LDADD = $(INSIDE_LIBS)

check_PROGRAMS += tests/memory/check_pinned_copies
TESTS += tests/memory/check_pinned_copies
tests_memory_check_pinned_copies_SOURCES = tests/memory/check_pinned_copies.c tests/memory/pinned_memory.h tests/runtime/gate.h
tests_memory_check_pinned_copies_CPPFLAGS = $(MEMORY_CPPFLAGS) -I$(top_srcdir)/tests/runtime
tests_memory_check_pinned_copies_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_pinned_copies_LDADD = $(PUBLIC_LIBS)

check_PROGRAMS += tests/memory/check_guard_pinned
TESTS += tests/memory/check_guard_pinned
tests_memory_check_guard_pinned_SOURCES = tests/memory/check_guard_pinned.c tests/memory/guarded.h tests/memory/guarded_pinned.h \
	tests/runtime/gate.h tests/runtime/log_lines.h
tests_memory_check_guard_pinned_CPPFLAGS = $(MEMORY_CPPFLAGS) -I$(top_srcdir)/tests/runtime
tests_memory_check_guard_pinned_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_guard_pinned_LDADD = $(INSIDE_LIBS)

check_PROGRAMS += tests/memory/check_guard_change
TESTS += tests/memory/check_guard_change
tests_memory_check_guard_change_SOURCES = tests/memory/check_guard_change.c tests/memory/guarded.h tests/memory/guarded_pinned.h \
	tests/runtime/gate.h tests/runtime/log_lines.h
tests_memory_check_guard_change_CPPFLAGS = $(MEMORY_CPPFLAGS) -I$(top_srcdir)/tests/runtime
tests_memory_check_guard_change_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_guard_change_LDADD = $(INSIDE_LIBS)

check_PROGRAMS += tests/memory/check_pinned_random
TESTS += tests/memory/check_pinned_random
tests_memory_check_pinned_random_SOURCES = tests/memory/check_pinned_random.c tests/memory/crowd.c \
	tests/memory/crowd.h tests/memory/lane.c tests/memory/shadow.c tests/memory/shadow.h
tests_memory_check_pinned_random_CPPFLAGS = $(MEMORY_CPPFLAGS)
tests_memory_check_pinned_random_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_pinned_random_LDADD = $(PUBLIC_LIBS)

check_PROGRAMS += tests/memory/check_captures
TESTS += tests/memory/check_captures
tests_memory_check_captures_SOURCES = tests/memory/check_captures.c tests/runtime/gate.h
tests_memory_check_captures_CPPFLAGS = $(MEMORY_CPPFLAGS) -I$(top_srcdir)/tests/runtime
tests_memory_check_captures_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_captures_LDADD = $(INSIDE_LIBS)

check_PROGRAMS += tests/memory/check_origins
TESTS += tests/memory/check_origins
tests_memory_check_origins_SOURCES = tests/memory/check_origins.c
tests_memory_check_origins_CPPFLAGS = $(MEMORY_CPPFLAGS)
tests_memory_check_origins_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_origins_LDADD = $(PUBLIC_LIBS)

check_PROGRAMS += tests/memory/check_other_drivers
TESTS += tests/memory/check_other_drivers
tests_memory_check_other_drivers_SOURCES = tests/memory/check_other_drivers.c tests/runtime/gate.h \
	tests/runtime/log_lines.h
tests_memory_check_other_drivers_CPPFLAGS = $(MEMORY_CPPFLAGS) -I$(top_srcdir)/tests/runtime
tests_memory_check_other_drivers_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_other_drivers_LDADD = $(INSIDE_LIBS)

check_PROGRAMS += tests/memory/check_past
TESTS += tests/memory/check_past
tests_memory_check_past_SOURCES = tests/memory/check_past.c
tests_memory_check_past_CPPFLAGS = $(MEMORY_CPPFLAGS)
tests_memory_check_past_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_past_LDADD = $(INSIDE_LIBS)

check_PROGRAMS += tests/memory/check_radix_tree
TESTS += tests/memory/check_radix_tree
tests_memory_check_radix_tree_SOURCES = tests/memory/check_radix_tree.c tests/support/random.h \
	lib/memory/radix_tree.c lib/memory/radix_tree.h
tests_memory_check_radix_tree_CPPFLAGS = $(MEMORY_CPPFLAGS)
tests_memory_check_radix_tree_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_radix_tree_LDADD = $(MEMORY_LIBS)

check_PROGRAMS += tests/memory/check_addresses
TESTS += tests/memory/check_addresses
tests_memory_check_addresses_SOURCES = tests/memory/check_addresses.c
tests_memory_check_addresses_CPPFLAGS = $(MEMORY_CPPFLAGS) -I$(top_srcdir)/tests/runtime
tests_memory_check_addresses_CFLAGS = $(MEMORY_CFLAGS)
tests_memory_check_addresses_LDADD = $(INSIDE_LIBS)
