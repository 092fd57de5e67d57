tests/memory/%.o: private AM_CPPFLAGS += -I$(top_srcdir)/tests/runtime
tests/memory/check_endless.o: private AM_CPPFLAGS += -I$(top_srcdir)/tests/emu

# parts of the allocator by themselves
MEMORY_PARTS = tests/memory/check_mapped_range.c tests/memory/check_fit.c tests/memory/check_fit_store.c \
	tests/memory/check_heap.c tests/memory/check_magazines.c tests/memory/check_mapped_heap.c
check_PROGRAMS += tests/memory/checks_parts
CHECK_FILES += $(MEMORY_PARTS)
$(MEMORY_PARTS:.c=$(EXEEXT)): tests/memory/checks_parts$(EXEEXT) ; $(LINK_CHECK)
tests_memory_checks_parts_SOURCES = $(MEMORY_PARTS) tests/memory/fit_check.c tests/memory/fit_check.h tests/memory/heap_bytes.h tests/support/random.h
tests_memory_checks_parts_LDADD = tests/support/libsupport.la lib/memory/libmemory.la lib/alloc/liballoc.la lib/emu/libemu.la \
	lib/driver/libdriver.la lib/base/libbase.la $(CHECK_LIBS)

# those that look at the insides
MEMORY_INSIDE = tests/memory/check_stream_magazines.c tests/memory/check_address_reuse.c tests/memory/check_endless.c \
	tests/memory/check_guard.c tests/memory/check_guard_environment.c tests/memory/check_guard_pinned.c \
	tests/memory/check_guard_change.c tests/memory/check_stream_events.c tests/memory/check_pinned.c tests/memory/check_captures.c \
	tests/memory/check_other_drivers.c tests/memory/check_freed_ranges.c tests/memory/check_addresses.c
check_PROGRAMS += tests/memory/checks_inside
CHECK_FILES += $(MEMORY_INSIDE)
$(MEMORY_INSIDE:.c=$(EXEEXT)): tests/memory/checks_inside$(EXEEXT) ; $(LINK_CHECK)
tests_memory_checks_inside_SOURCES = $(MEMORY_INSIDE) tests/memory/guarded.h tests/memory/guarded_pinned.h \
	tests/memory/pinned_memory.h tests/runtime/gate.h tests/runtime/log_lines.h
tests_memory_checks_inside_LDADD = $(INSIDE_LIBS)

# those of the public interface
MEMORY_PUBLIC = tests/memory/check_allocator_random.c tests/memory/check_direct.c tests/memory/check_capacity.c \
	tests/memory/check_allocator_info.c tests/memory/check_report.c tests/memory/check_pinned_copies.c \
	tests/memory/check_pinned_random.c tests/memory/check_origins.c
check_PROGRAMS += tests/memory/checks_public
CHECK_FILES += $(MEMORY_PUBLIC)
$(MEMORY_PUBLIC:.c=$(EXEEXT)): tests/memory/checks_public$(EXEEXT) ; $(LINK_CHECK)
tests_memory_checks_public_SOURCES = $(MEMORY_PUBLIC) tests/memory/blocks.c tests/memory/blocks.h tests/memory/captured.c \
	tests/memory/crowd.c tests/memory/crowd.h tests/memory/lane.c tests/memory/pinned_memory.h tests/memory/recorded.c \
	tests/memory/shadow.c tests/memory/shadow.h tests/runtime/gate.h tests/runtime/log_lines.h
tests_memory_checks_public_LDADD = $(PUBLIC_LIBS)

# It runs itself under memcheck, and so needs no library of the build's.
check_PROGRAMS += tests/memory/check_resident
TESTS += tests/memory/check_resident
tests_memory_check_resident_SOURCES = tests/memory/check_resident.c
tests_memory_check_resident_LDADD = $(INSIDE_LIBS)
