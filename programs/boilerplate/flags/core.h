// All flags of the supervisor.
#pragma once

#include "boilerplate/flags/base.h"
#include "boilerplate/flags/benchmark.h"
#include "boilerplate/flags/model_and_data.h"
#include "boilerplate/flags/performance.h"

namespace boilerplate {

struct AllFlags : BaseFlags, PerformanceFlags, ModelAndDataFlags, BenchmarkFlags {
  std::optional<int64_t> seed;
};
void DefineFlags(sextant::Flags& flags, AllFlags* values);

// Throws INVALID_ARGUMENT for flags that do not go together.
void CheckFlags(const AllFlags& flags);

// What a training depends on, by name: a run with the same goes on where another one ended.
using RunParameters = std::vector<std::pair<std::string, sextant::HParams::Value>>;
RunParameters ParametersOf(const AllFlags& flags);

}  // namespace boilerplate
