noinst_LTLIBRARIES += lib/graph/libgraph.la
lib_graph_libgraph_la_SOURCES = \
	lib/graph/beam.c \
	lib/graph/capture.c \
	lib/graph/extent.c lib/graph/extent.h \
	lib/graph/graph.c lib/graph/graph.h \
	lib/graph/launch.c \
	lib/graph/packing.c lib/graph/packing.h \
	lib/graph/plan.c lib/graph/plan.h \
	lib/graph/sequence.c lib/graph/sequence.h
