JOINTS_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/include/infinirt -I$(top_srcdir)/tests/joints \
	-I$(top_srcdir)/tests/runtime -I$(top_srcdir)/tests/support
JOINTS_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)

check_PROGRAMS += tests/joints/check_joints
dist_check_SCRIPTS += tests/joints/pending.sh
TESTS += tests/joints/check_joints tests/joints/pending.sh
EXTRA_DIST += tests/joints/pending tests/joints/run.sh tests/joints/mended.sh
tests_joints_check_joints_SOURCES = tests/joints/check_joints.c tests/joints/suites.h tests/joints/joint.c \
	tests/joints/joint.h tests/joints/handoff.c tests/joints/reset.c tests/joints/recording.c tests/joints/pointers.c \
	tests/joints/streams.c tests/joints/capacity.c tests/joints/infinirt.c tests/runtime/gate.h
tests_joints_check_joints_CPPFLAGS = $(JOINTS_CPPFLAGS)
tests_joints_check_joints_CFLAGS = $(JOINTS_CFLAGS)
tests_joints_check_joints_LDADD = lib/libinfinirt.la $(PUBLIC_LIBS)
