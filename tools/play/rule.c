#include "play/rule.h"

const driver_rule all_rules[] = {
#include "tools/play/rules.h"
};
const size_t all_rules_count = sizeof all_rules / sizeof all_rules[0];
