TOOLS_SH = tests/tools/draw.sh tests/tools/help.sh tests/tools/info.sh tests/tools/play.sh tests/tools/replay.sh tests/tools/run.sh
dist_check_SCRIPTS += $(TOOLS_SH)
TESTS += $(TOOLS_SH)
EXTRA_DIST += tests/support/table.sh tests/support/tap.sh
