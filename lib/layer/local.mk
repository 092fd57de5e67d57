noinst_LTLIBRARIES += lib/layer/liblayer.la
lib_layer_liblayer_la_SOURCES = lib/layer/arguments.h lib/layer/handles.c lib/layer/layer.c lib/layer/layer.h
