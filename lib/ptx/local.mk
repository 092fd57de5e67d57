noinst_LTLIBRARIES += lib/ptx/libptx.la
lib_ptx_libptx_la_SOURCES = \
	lib/ptx/atomic.c lib/ptx/bits.h lib/ptx/body.c lib/ptx/builtin.c lib/ptx/builtin.h lib/ptx/call.c \
	lib/ptx/convert.c lib/ptx/encode_call.c \
	lib/ptx/encode_arithmetic.c lib/ptx/encode_compare.c lib/ptx/encode_control.c \
	lib/ptx/encode_convert.c lib/ptx/encode_memory.c \
	lib/ptx/flow.c lib/ptx/flow.h lib/ptx/grid.h lib/ptx/growth.h lib/ptx/interpret.c \
	lib/ptx/lex.c lib/ptx/lex.h lib/ptx/link.c lib/ptx/link.h lib/ptx/mbarrier.c lib/ptx/module.c lib/ptx/module.h \
	lib/ptx/names.c lib/ptx/names.h lib/ptx/op.c lib/ptx/operand.c lib/ptx/ops.def \
	lib/ptx/parse.c lib/ptx/parser.c lib/ptx/parser.h lib/ptx/print.c lib/ptx/ptx.h \
	lib/ptx/reach.c lib/ptx/reach.h lib/ptx/rounding.c lib/ptx/run.c lib/ptx/small.c lib/ptx/small.h lib/ptx/source.c \
	lib/ptx/stack.c lib/ptx/stack.h lib/ptx/together.c \
	lib/ptx/type.c lib/ptx/type.h lib/ptx/variable.c lib/ptx/video.c lib/ptx/video.h \
	lib/ptx/warp.c lib/ptx/warp.h
lib_ptx_libptx_la_LIBADD = -lm
