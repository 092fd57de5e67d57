# The reference model of the driver's rules; it knows scenarios, and nothing of the embedded driver. Not part of libctxrt.
noinst_LTLIBRARIES += lib/model/libmodel.la
lib_model_libmodel_la_SOURCES = \
	lib/model/rules.def \
	lib/model/captures.c \
	lib/model/contexts.c \
	lib/model/events.c \
	lib/model/graphs.c \
	lib/model/kernels.c \
	lib/model/memory.c \
	lib/model/model.c lib/model/model.h \
	lib/model/peers.c \
	lib/model/primaries.c \
	lib/model/processes.c \
	lib/model/queries.c \
	lib/model/random.c lib/model/random.h \
	lib/model/shrink.c \
	lib/model/stack.c \
	lib/model/streams.c \
	lib/model/work.c lib/model/world.h
