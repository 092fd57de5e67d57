pkginclude_HEADERS = \
	include/ctxrt/ctxrt.h \
	include/ctxrt/ctxrt.hpp \
	include/ctxrt/calls.hpp \
	include/ctxrt/error.hpp \
	include/ctxrt/guard.hpp \
	include/ctxrt/allocator.h \
	include/ctxrt/context.h \
	include/ctxrt/device.h \
	include/ctxrt/event.h \
	include/ctxrt/export.h \
	include/ctxrt/graph.h \
	include/ctxrt/memory.h \
	include/ctxrt/module.h \
	include/ctxrt/plan.h \
	include/ctxrt/runtime.h \
	include/ctxrt/stack.h \
	include/ctxrt/status.h \
	include/ctxrt/stream.h

# Programs say <infinirt.h>: infinirt.pc names the folder.
infinirtincludedir = $(includedir)/infinirt
infinirtinclude_HEADERS = \
	include/infinirt/infinicore.h \
	include/infinirt/infinirt.h
