noinst_LTLIBRARIES += lib/context/libcontext.la
lib_context_libcontext_la_SOURCES = \
	lib/context/context.c lib/context/context.h \
	lib/context/context_guard.c lib/context/context_guard.h \
	lib/context/created.c \
	lib/context/deferred_error.c \
	lib/context/driver_stack_entry.c lib/context/driver_stack_entry.h \
	lib/context/explain.c lib/context/explain.h lib/context/resync.c lib/context/resync.h \
	lib/context/foreign.c \
	lib/context/frame.c \
	lib/context/frame_kind.c lib/context/frame_kind.h \
	lib/context/handle.c \
	lib/context/layer_names.c lib/context/layer_names.h \
	lib/context/limit.c \
	lib/context/memory_info.c \
	lib/context/named.c lib/context/named.h \
	lib/context/observer.c lib/context/observer.h \
	lib/context/peer.c \
	lib/context/peer_mapping_access.c lib/context/peer_mapping_access.h \
	lib/context/primary.c \
	lib/context/record.c lib/context/record.h \
	lib/context/scope.c \
	lib/context/shown_text.c lib/context/shown_text.h \
	lib/context/shutdown.c \
	lib/context/snapshot.c lib/context/snapshot.h \
	lib/context/snapshot_json.c lib/context/snapshot_text.c \
	lib/context/stack.c lib/context/stack.h \
	lib/context/thread.c lib/context/thread.h \
	lib/context/use.c lib/context/use.h \
	lib/context/view.c lib/context/view.h
