noinst_LTLIBRARIES += lib/work/libwork.la
lib_work_libwork_la_SOURCES =
