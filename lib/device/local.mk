noinst_LTLIBRARIES += lib/device/libdevice.la
lib_device_libdevice_la_SOURCES =
