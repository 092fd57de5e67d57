# Scenarios by group of docs/semantics.md; each group is a folder.
SCENARIO_SH = tests/scenarios/coverage.sh tests/scenarios/play.sh tests/scenarios/random.sh
dist_check_SCRIPTS += $(SCENARIO_SH)
TESTS += $(SCENARIO_SH)
EXTRA_DIST += tests/scenarios/cited.awk \
	tests/scenarios/arguments tests/scenarios/capture tests/scenarios/contexts tests/scenarios/errors tests/scenarios/ipc \
	tests/scenarios/kernels tests/scenarios/life tests/scenarios/peers tests/scenarios/pools tests/scenarios/primary tests/scenarios/queries \
	tests/scenarios/runtime_api tests/scenarios/stack tests/scenarios/virtual tests/scenarios/work
