TOOLS_SH = tests/tools/bench.sh tests/tools/check.sh tests/tools/check_formats.sh tests/tools/check_places.sh tests/tools/compare.sh tests/tools/draw.sh tests/tools/help.sh tests/tools/info.sh tests/tools/page.sh tests/tools/picture.sh tests/tools/play.sh tests/tools/play_page.sh tests/tools/readable.sh tests/tools/replay.sh tests/tools/report.sh tests/tools/run.sh tests/tools/trace.sh tests/tools/viewer.sh
dist_check_SCRIPTS += $(TOOLS_SH)
TESTS += $(TOOLS_SH)
EXTRA_DIST += tests/tools/story.scn tests/tools/browser.sh tests/tools/page_probe.js tests/tools/picture_probe.js tests/tools/play_probe.js tests/tools/probe.js tests/tools/readable_probe.js tests/tools/text_probe.js tests/tools/viewer_probe.js tests/support/table.sh tests/support/tap.sh

# A program of the Driver API that misuses it, and ends in each way.
check_PROGRAMS += tests/tools/checked
tests_tools_checked_SOURCES = tests/tools/checked.c
tests_tools_checked_LDADD = -Llib/shim/cuda-12/.libs -l:libcuda.so.1
EXTRA_tests_tools_checked_DEPENDENCIES = $(cuda12lib_LTLIBRARIES)

# Reports against docs/check.schema.json.
check_PROGRAMS += tests/tools/validate
tests_tools_validate_SOURCES = tests/tools/validate.c
tests_tools_validate_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_tools_validate_LDADD = $(JANSSON_LIBS)

# A program for traces, and the checker of timelines.
check_PROGRAMS += tests/tools/traced
tests_tools_traced_SOURCES = tests/tools/traced.c
tests_tools_traced_LDADD = -Llib/shim/cuda-12/.libs -l:libcuda.so.1
EXTRA_tests_tools_traced_DEPENDENCIES = $(cuda12lib_LTLIBRARIES)

check_PROGRAMS += tests/tools/timeline
tests_tools_timeline_SOURCES = tests/tools/timeline.c
tests_tools_timeline_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tests_tools_timeline_LDADD = $(JANSSON_LIBS) -lm

# A program for reports of runs.
check_PROGRAMS += tests/tools/counted
tests_tools_counted_SOURCES = tests/tools/counted.c
tests_tools_counted_LDADD = -Llib/shim/cuda-12/.libs -l:libcuda.so.1
EXTRA_tests_tools_counted_DEPENDENCIES = $(cuda12lib_LTLIBRARIES)
