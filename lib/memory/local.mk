noinst_LTLIBRARIES += lib/memory/libmemory.la
lib_memory_libmemory_la_SOURCES =
