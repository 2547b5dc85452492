// Event files with everything they can hold: classic and plugin values, a graph, hyperparameters.
#include <google/protobuf/struct.pb.h>

#include "sextant/base/file_system.h"
#include "sextant/formats/event_writer.h"
#include "sextant/formats/hparams_summary.h"
#include "sextant/formats/summary_values.h"
#include "sextant/graph/scope.h"
#include "sextant/nn/summaries.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/proto/event.pb.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/proto/hparams.pb.h"
#include "sextant/proto/step_stats.pb.h"
#include "sextant/runtime/session.h"
#include "tests/interop/writers.h"

namespace sextant::interop {
namespace {

using proto::Summary;
namespace hp = proto::hparams;

std::string GraphDef() {
  proto::GraphDef graph;
  graph.add_node()->set_name("x");
  graph.mutable_node(0)->set_op("Placeholder");
  (*graph.mutable_node(0)->mutable_attr())["dtype"].set_type(proto::DT_FLOAT);
  graph.mutable_versions()->set_producer(1645);
  return graph.SerializeAsString();
}

std::string RunMetadata() {
  proto::RunMetadata metadata;
  auto* device = metadata.mutable_step_stats()->add_dev_stats();
  device->set_device("/device:CPU:0");
  device->add_node_stats()->set_node_name("x");
  return metadata.SerializeAsString();
}

void AddValues(Summary* summary, int step, SummaryForm form) {
  const std::vector<float> numbers = {0, 1, 2, static_cast<float>(step)};
  std::vector<uint8_t> pixels(4 * 5 * 3);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(3 * i);
  AddScalar(summary, "loss", 1.0f / static_cast<float>(1 + step), form);
  AddHistogram(summary, "weights", numbers, form);
  AddImage(summary, "picture", pixels, {4, 5, 3}, form);
  AddAudio(summary, "tone", std::vector<float>(80, 0.5f), 1, 8000, form);
  AddText(summary, "note", Tensor::Of<std::string>({"# title", "step " + std::to_string(step)}));
  AddTensor(summary, "tensor", Tensor::Of<float>({1, 2, 3}));
}

void WriteRun(const std::string& folder, SummaryForm form) {
  EventWriter writer(folder);
  writer.AddGraph(GraphDef());
  writer.AddSessionStart(0);
  for (int step = 0; step < 20; ++step) {
    Summary summary;
    AddValues(&summary, step, form);
    writer.AddSummary(summary, step);
  }
  writer.AddRunMetadata("step 19", RunMetadata(), 19);
  writer.AddSessionCheckpoint("model.ckpt", 19);
  writer.AddSessionStop(19);
  writer.Close();
  writer.Reopen();
  writer.AddScalar("late", 7, 20);
  writer.Close();
}

// A run is resumed at step 5: what came after it before does not count any more.
void WriteResumed(const std::string& folder) {
  double now = 1500000000;
  const EventWriterOptions options = {.now = [&now] { return now; }};
  for (const int first : {0, 5}) {
    EventWriter writer(folder, options);
    writer.AddSessionStart(first);
    for (int step = first; step < first + 10; ++step) {
      writer.AddScalar("loss", static_cast<float>(100 * first + step), step);
    }
    writer.Close();
    now += 60;
  }
}

void WriteHParams(const std::string& folder) {
  hp::Experiment experiment;
  experiment.set_time_created_secs(1500000000);
  hp::HParamInfo* rate = experiment.add_hparam_infos();
  rate->set_name("learning_rate");
  rate->set_type(hp::DATA_TYPE_FLOAT64);
  rate->mutable_domain_interval()->set_max_value(0.1);
  hp::MetricInfo* metric = experiment.add_metric_infos();
  metric->mutable_name()->set_tag("accuracy");
  {
    EventWriter root(folder);
    Summary summary;
    AddHParamsExperiment(&summary, experiment);
    root.AddSummary(summary, 0);
  }
  EventWriter writer(JoinPath(folder, "trial"));
  Summary start, end;
  AddHParamsSessionStart(
      &start,
      {.hparams = {{"learning_rate", 0.01}, {"optimizer", std::string("adam")}, {"dropout", true}},
       .group_name = "group",
       .start_time_secs = 1500000000});
  writer.AddSummary(start, 0);
  writer.AddScalar("accuracy", 0.875, 5);
  AddHParamsSessionEnd(&end, HParamsStatus::kSuccess, 1500000060);
  writer.AddSummary(end, 0);
  writer.Close();
}

void WritePrCurve(const std::string& folder) {
  Graph graph;
  const GraphScope scope(graph);
  const Output curve =
      summaries::PrCurve("clf", Const(Tensor::Of<bool>({true, false, true, true, false})),
                         Const(Tensor::Of<float>({0.9F, 0.8F, 0.35F, 0.5F, 0.1F})),
                         {.num_thresholds = 11, .description = "five examples"});
  Summary summary;
  summary.ParseFromString(Session(graph).Run(curve).scalar<std::string>());
  EventWriter writer(folder);
  writer.AddSummary(summary, 3);
  writer.Close();
}

}  // namespace

void WriteEvents(const std::string& folder) {
  WriteRun(JoinPath(folder, "classic"), SummaryForm::kClassic);
  WriteRun(JoinPath(folder, "plugin"), SummaryForm::kPlugin);
  WriteResumed(JoinPath(folder, "resumed"));
  WriteHParams(JoinPath(folder, "hparams"));
  WritePrCurve(JoinPath(folder, "pr_curve"));
}

}  // namespace sextant::interop
