tests/layer/%.o: private AM_CPPFLAGS += -I$(top_srcdir)/tests

# the validator
LAYER_CHECK = tests/layer/check_stress.c tests/layer/check_calls.c tests/layer/check_culprit.c tests/layer/check_capture.c tests/layer/check_capture_edges.c \
	tests/layer/check_capture_end.c tests/layer/check_order.c tests/layer/check_order_bytes.c tests/layer/check_order_graph.c tests/layer/check_order_random.c \
	tests/layer/check_order_rows.c \
	tests/layer/check_package.c tests/layer/check_pending.c tests/layer/check_per_thread.c tests/layer/check_seen.c
check_PROGRAMS += tests/layer/checks_check
CHECK_FILES += $(LAYER_CHECK)
$(LAYER_CHECK:.c=$(EXEEXT)): tests/layer/checks_check$(EXEEXT) ; $(LINK_CHECK)
tests_layer_checks_check_SOURCES = $(LAYER_CHECK) tests/layer/capturing.h tests/layer/checking.h tests/layer/ordering.h
tests_layer_checks_check_LDADD = tests/support/libsupport.la lib/layer/libcheck.la lib/layer/liblayer.la lib/emu/libemu.la \
	lib/driver/libdriver.la lib/base/libbase.la $(CHECK_LIBS)

# all layers
LAYER_LAYERS = tests/layer/check_layer.c tests/layer/check_count.c tests/layer/check_trace.c tests/layer/check_fork.c
check_PROGRAMS += tests/layer/checks_layers
CHECK_FILES += $(LAYER_LAYERS)
$(LAYER_LAYERS:.c=$(EXEEXT)): tests/layer/checks_layers$(EXEEXT) ; $(LINK_CHECK)
tests_layer_checks_layers_SOURCES = $(LAYER_LAYERS)
tests_layer_checks_layers_LDADD = tests/support/libsupport.la lib/layer/libcheck.la lib/layer/libcount.la lib/layer/libtrace.la \
	lib/layer/liblayer.la lib/emu/libemu.la \
	lib/driver/libdriver.la lib/base/libbase.la $(CHECK_LIBS)

# They take the place of calls of the system.
check_PROGRAMS += tests/layer/check_meanwhile tests/layer/check_room
TESTS += tests/layer/check_meanwhile tests/layer/check_room
tests_layer_check_meanwhile_SOURCES = tests/layer/check_meanwhile.c tests/layer/capturing.h tests/layer/checking.h
tests_layer_check_meanwhile_LDADD = $(tests_layer_checks_check_LDADD)
tests_layer_check_room_SOURCES = tests/layer/check_room.c
tests_layer_check_room_LDADD = $(tests_layer_checks_check_LDADD)

# libctxrt with CTXRT_LAYERS=check.
check_PROGRAMS += tests/layer/checked
tests_layer_checked_SOURCES = tests/layer/checked.c
tests_layer_checked_LDADD = lib/libctxrt.la
dist_check_SCRIPTS += tests/layer/own_calls.sh tests/layer/runtime.sh tests/layer/scenarios.sh
TESTS += tests/layer/own_calls.sh tests/layer/runtime.sh tests/layer/scenarios.sh
EXTRA_DIST += tests/layer/own_calls.txt

check_PROGRAMS += tests/layer/own_calls
tests_layer_own_calls_SOURCES = tests/layer/own_calls.c
tests_layer_own_calls_LDADD = lib/libctxrt.la
