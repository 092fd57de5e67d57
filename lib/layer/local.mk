noinst_LTLIBRARIES += lib/layer/liblayer.la
lib_layer_liblayer_la_SOURCES = lib/layer/arguments.h lib/layer/chosen.c lib/layer/chosen.h lib/layer/handles.c lib/layer/handshake.c lib/layer/handshake.h lib/layer/layer.c lib/layer/layer.h \
	lib/layer/module_file.c lib/layer/module_file.h \
	lib/layer/names.c lib/layer/names.h \
	lib/layer/process_file.c lib/layer/process_file.h

# The validator, which `ctxrt check` reads.
noinst_LTLIBRARIES += lib/layer/libcheck.la
lib_layer_libcheck_la_SOURCES = lib/layer/check/kinds.def lib/layer/check/kinds_runtime.def lib/layer/check/lifetimes.def lib/layer/check/objects.def \
	lib/layer/check/access.c lib/layer/check/access.h lib/layer/check/attach.c lib/layer/check/attach.h \
	lib/layer/check/branch.c lib/layer/check/branch.h \
	lib/layer/check/call.c lib/layer/check/call.h lib/layer/check/check.c lib/layer/check/check.h \
	lib/layer/check/capture.c \
	lib/layer/check/crash.c lib/layer/check/crash.h \
	lib/layer/check/current.c \
	lib/layer/check/exit.c lib/layer/check/exit.h \
	lib/layer/check/causes.def lib/layer/check/failed.c \
	lib/layer/check/finding.c lib/layer/check/finding.h lib/layer/check/finding_log.c \
	lib/layer/check/frontier.c lib/layer/check/frontier.h \
	lib/layer/check/handle.c \
	lib/layer/check/hazard.c lib/layer/check/hazard.h \
	lib/layer/check/host_guard.c lib/layer/check/host_guard.h \
	lib/layer/check/lifetimes.c \
	lib/layer/check/mapping.c \
	lib/layer/check/memory.c \
	lib/layer/check/object.c lib/layer/check/object.h \
	lib/layer/check/order.c \
	lib/layer/check/order_bytes.c lib/layer/check/order_bytes.h \
	lib/layer/check/order_finding.c lib/layer/check/order_finding.h \
	lib/layer/check/order_graph.c lib/layer/check/order_graph.h \
	lib/layer/check/order_launch.c lib/layer/check/order_launch.h \
	lib/layer/check/order_sync.c lib/layer/check/order_sync.h \
	lib/layer/check/culprit.c lib/layer/check/culprit.h \
	lib/layer/check/order_work.c lib/layer/check/order_work.h \
	lib/layer/check/origin.c lib/layer/check/origin.h \
	lib/layer/check/peer.c \
	lib/layer/check/pending.c \
	lib/layer/check/primary.c \
	lib/layer/check/process.c \
	lib/layer/check/region.c lib/layer/check/region.h \
	lib/layer/check/stack.c \
	lib/layer/check/stream_clock.c lib/layer/check/stream_clock.h \
	lib/layer/check/thread.c lib/layer/check/thread.h \
	lib/layer/check/wait.c lib/layer/check/wait.h

# The counter, which `ctxrt run --report` reads.
noinst_LTLIBRARIES += lib/layer/libcount.la
lib_layer_libcount_la_SOURCES = \
	lib/layer/count/count.c lib/layer/count/count.h \
	lib/layer/count/format.h \
	lib/layer/count/region.c lib/layer/count/region.h

# The tracer, which `ctxrt trace` reads.
noinst_LTLIBRARIES += lib/layer/libtrace.la
lib_layer_libtrace_la_SOURCES = \
	lib/layer/trace/chunks.c lib/layer/trace/chunks.h \
	lib/layer/trace/clock.c lib/layer/trace/clock.h \
	lib/layer/trace/events.c lib/layer/trace/events.h \
	lib/layer/trace/file.c lib/layer/trace/file.h \
	lib/layer/trace/format.h \
	lib/layer/trace/layout.c lib/layer/trace/layout.h \
	lib/layer/trace/module.c \
	lib/layer/trace/stack.c \
	lib/layer/trace/thread.c lib/layer/trace/thread.h \
	lib/layer/trace/trace.c lib/layer/trace/trace.h
