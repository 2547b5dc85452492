// Optimizers and schedules from names and numbers, as configuration files and flags give them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/train/optimizer.h"

#pragma GCC visibility push(default)

namespace sextant::train {

// Constructor arguments of tf.compat.v1.train, by their names; booleans are 0 or 1.
using Arguments = std::map<std::string, double, std::less<>>;

// "Adam", "Ftrl", … with or without "Optimizer" behind. Throws INVALID_ARGUMENT for an unknown
// name, listing those there are, and for an argument the optimizer does not take.
Optimizer OptimizerByName(std::string_view name, const Arguments& arguments);
std::vector<std::string> OptimizerNames();

}  // namespace sextant::train

#pragma GCC visibility pop
