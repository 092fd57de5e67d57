noinst_LTLIBRARIES += lib/graph/libgraph.la
lib_graph_libgraph_la_SOURCES = \
	lib/graph/build.c \
	lib/graph/capture.c \
	lib/graph/code.c lib/graph/code.h \
	lib/graph/describe.c \
	lib/graph/extent.c lib/graph/extent.h \
	lib/graph/graph.c lib/graph/graph.h \
	lib/graph/operator_registry.c \
	lib/graph/launch.c \
	lib/graph/operator.c lib/graph/operator.h \
	lib/graph/order.c lib/graph/order.h \
	lib/graph/packing.c lib/graph/packing.h \
	lib/graph/plan.c lib/graph/plan.h \
	lib/graph/ready.c lib/graph/ready.h \
	lib/graph/recording.c lib/graph/recording.h \
	lib/graph/search.c \
	lib/graph/sequence.c lib/graph/sequence.h
