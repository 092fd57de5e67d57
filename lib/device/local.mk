noinst_LTLIBRARIES += lib/device/libdevice.la
lib_device_libdevice_la_SOURCES = \
	lib/device/device.c lib/device/device.h \
	lib/device/environment.c lib/device/environment.h \
	lib/device/layers.c lib/device/layers.h \
	lib/device/properties.c \
	lib/device/runtime.c lib/device/runtime.h
