noinst_LTLIBRARIES += lib/emu/libemu.la
lib_emu_libemu_la_SOURCES = \
	lib/emu/emu.h lib/emu/state.h lib/emu/device.h lib/emu/context.h \
	lib/emu/allocation.h lib/emu/work.h

# life, devices, contexts, stacks, primary contexts, peers
lib_emu_libemu_la_SOURCES +=

# memory
lib_emu_libemu_la_SOURCES += \
	lib/emu/arena.c lib/emu/arena.h lib/emu/allocation.c lib/emu/memory.c \
	lib/emu/host_memory.c lib/emu/pointer.c

# work: streams, events, copies
lib_emu_libemu_la_SOURCES +=
