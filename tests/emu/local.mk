EMU_LIBS = tests/support/libsupport.la lib/emu/libemu.la lib/driver/libdriver.la lib/base/libbase.la $(CHECK_LIBS)
EMU_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/support
EMU_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
