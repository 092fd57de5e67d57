noinst_LTLIBRARIES += lib/memory/libmemory.la
lib_memory_libmemory_la_SOURCES = \
	lib/memory/address_index.c lib/memory/address_index.h \
	lib/memory/address_list.h \
	lib/memory/allocator.c lib/memory/allocator.h \
	lib/memory/block.c lib/memory/block.h \
	lib/memory/block_starts.c lib/memory/block_starts.h \
	lib/memory/cache.c lib/memory/cache.h \
	lib/memory/cache_block.c lib/memory/cache_block.h \
	lib/memory/cache_free.c \
	lib/memory/cache_grow.c \
	lib/memory/cache_map.c \
	lib/memory/cache_stream.c \
	lib/memory/cache_withhold.c \
	lib/memory/caches.c \
	lib/memory/counters.c lib/memory/counters.h \
	lib/memory/cross_driver_copies.c lib/memory/cross_driver_copies.h \
	lib/memory/custom_allocator.c \
	lib/memory/diagnosis.h \
	lib/memory/direct_allocator.c \
	lib/memory/fast_path.h \
	lib/memory/freed_ranges.c lib/memory/freed_ranges.h \
	lib/memory/host.c \
	lib/memory/magazine.c lib/memory/magazine.h \
	lib/memory/mapped_heap.c lib/memory/mapped_heap.h \
	lib/memory/mapped_range.c lib/memory/mapped_range.h \
	lib/memory/memory.c lib/memory/memory.h \
	lib/memory/owed.c lib/memory/owed.h \
	lib/memory/peer_use.c lib/memory/peer_use.h \
	lib/memory/pinned.c lib/memory/pinned.h \
	lib/memory/pool_allocator.c \
	lib/memory/pointer.c lib/memory/pointer.h \
	lib/memory/private_pool.c lib/memory/private_pool.h \
	lib/memory/raw_alloc.c \
	lib/memory/share.c lib/memory/share.h \
	lib/memory/share_mapped.c \
	lib/memory/stream_uses.c lib/memory/stream_uses.h
# The hook of memory/diagnosis.h is in there.
lib_memory_libmemory_la_LIBADD = lib/diagnose/libdiagnose.la
lib_memory_libmemory_la_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
