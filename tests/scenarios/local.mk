# Scenarios by group of docs/semantics.md; each group is a folder.
SCENARIO_SH = tests/scenarios/play.sh
dist_check_SCRIPTS += $(SCENARIO_SH)
TESTS += $(SCENARIO_SH)
EXTRA_DIST += \
	tests/scenarios/contexts tests/scenarios/life tests/scenarios/peers tests/scenarios/primary \
	tests/scenarios/queries tests/scenarios/stack tests/scenarios/work
