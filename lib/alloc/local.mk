# Placing blocks: knows no driver and no thread. Only the store of nodes has a lock.
noinst_LTLIBRARIES += lib/alloc/liballoc.la
lib_alloc_liballoc_la_SOURCES = \
	lib/alloc/amount.h \
	lib/alloc/fit.c lib/alloc/fit.h \
	lib/alloc/fit_store.c lib/alloc/fit_store.h \
	lib/alloc/heap.c lib/alloc/heap.h
