# The reference model of the driver's rules; it knows scenarios, and nothing of the embedded driver. Not part of libctxrt.
noinst_LTLIBRARIES += tools/model/libmodel.la
tools_model_libmodel_la_SOURCES = \
	tools/model/rules.def \
	tools/model/captures.c \
	tools/model/contexts.c tools/model/copies.c \
	tools/model/events.c \
	tools/model/graphs.c tools/model/greens.c \
	tools/model/kernels.c \
	tools/model/memory.c \
	tools/model/model.c tools/model/model.h \
	tools/model/ordered.c \
	tools/model/peers.c \
	tools/model/pools.c \
	tools/model/primaries.c \
	tools/model/processes.c \
	tools/model/queries.c \
	tools/model/random.c tools/model/random.h \
	tools/model/shrink.c \
	tools/model/stack.c \
	tools/model/streams.c \
	tools/model/work.c tools/model/state.h
