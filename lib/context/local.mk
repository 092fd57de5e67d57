noinst_LTLIBRARIES += lib/context/libcontext.la
lib_context_libcontext_la_SOURCES =
