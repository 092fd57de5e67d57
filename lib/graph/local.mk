noinst_LTLIBRARIES += lib/graph/libgraph.la
lib_graph_libgraph_la_SOURCES = \
	lib/graph/capture.c \
	lib/graph/graph.c lib/graph/graph.h \
	lib/graph/launch.c \
	lib/graph/sequence.c lib/graph/sequence.h
