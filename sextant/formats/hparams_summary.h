// Hyperparameters of runs, for TensorBoard's table of them. Each message is one value of a Summary
// written at step 0. A session is one run directory: its start, later its end.
#pragma once

#include <map>
#include <string>
#include <variant>

namespace sextant::proto::hparams {
class Experiment;
class HParamsPluginData;
}  // namespace sextant::proto::hparams
namespace sextant::proto {
class Summary;
class Summary_Value;
}  // namespace sextant::proto

namespace sextant {

using HParamValue = std::variant<bool, double, std::string>;

struct HParamsSession {
  std::map<std::string, HParamValue> hparams;
  std::string group_name;  // sessions of one group are one row; empty: the name of the run
  std::string model_uri;
  std::string monitor_url;
  double start_time_secs = 0;  // since the epoch
};

enum class HParamsStatus { kUnknown = 0, kSuccess = 1, kFailure = 2, kRunning = 3 };

// What hyperparameters and metrics there are; once, in the run above all others. TensorBoard finds
// out by itself without it.
void AddHParamsExperiment(proto::Summary* summary, const proto::hparams::Experiment& experiment);
void AddHParamsSessionStart(proto::Summary* summary, const HParamsSession& session);
void AddHParamsSessionEnd(proto::Summary* summary, HParamsStatus status, double end_time_secs);

// Whether the value is of the hparams plugin; then *data is what it says. Throws DATA_LOSS when
// that cannot be parsed.
bool ReadHParams(const proto::Summary_Value& value, proto::hparams::HParamsPluginData* data);

}  // namespace sextant
