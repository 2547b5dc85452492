#include "sextant/formats/hparams_summary.h"

#include <google/protobuf/struct.pb.h>

#include "sextant/base/error.h"
#include "sextant/formats/summary_values.h"
#include "sextant/proto/hparams.pb.h"
#include "sextant/proto/summary.pb.h"

namespace sextant {
namespace {

namespace hp = proto::hparams;

constexpr char kPlugin[] = "hparams";

void Add(proto::Summary* summary, const std::string& tag, const hp::HParamsPluginData& data) {
  // TensorBoard wants a tensor beside the metadata, and reads only the latter.
  AddTensor(summary, "_hparams_/" + tag, Tensor(DType::kFloat, Shape{0}), kPlugin,
            data.SerializeAsString());
}

struct ToProto {
  google::protobuf::Value* proto;
  void operator()(bool value) const { proto->set_bool_value(value); }
  void operator()(double value) const { proto->set_number_value(value); }
  void operator()(const std::string& value) const { proto->set_string_value(value); }
};

}  // namespace

void AddHParamsExperiment(proto::Summary* summary, const hp::Experiment& experiment) {
  hp::HParamsPluginData data;
  *data.mutable_experiment() = experiment;
  Add(summary, "experiment", data);
}

void AddHParamsSessionStart(proto::Summary* summary, const HParamsSession& session) {
  hp::HParamsPluginData data;
  hp::SessionStartInfo& info = *data.mutable_session_start_info();
  for (const auto& [name, value] : session.hparams) {
    std::visit(ToProto{&(*info.mutable_hparams())[name]}, value);
  }
  info.set_group_name(session.group_name);
  info.set_model_uri(session.model_uri);
  info.set_monitor_url(session.monitor_url);
  info.set_start_time_secs(session.start_time_secs);
  Add(summary, "session_start_info", data);
}

void AddHParamsSessionEnd(proto::Summary* summary, HParamsStatus status, double end_time_secs) {
  hp::HParamsPluginData data;
  data.mutable_session_end_info()->set_status(static_cast<hp::Status>(status));
  data.mutable_session_end_info()->set_end_time_secs(end_time_secs);
  Add(summary, "session_end_info", data);
}

bool ReadHParams(const proto::Summary_Value& value, hp::HParamsPluginData* data) {
  const auto& plugin = value.metadata().plugin_data();
  if (plugin.plugin_name() != kPlugin) return false;
  if (!data->ParseFromString(plugin.content())) {
    throw DataLoss("summary '{}': {} bytes that are not hparams", value.tag(),
                   plugin.content().size());
  }
  return true;
}

}  // namespace sextant
