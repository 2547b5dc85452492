#include "tests/conformance/trajectory_cases.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/formats/example.h"
#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/graph/meta_graph.h"
#include "sextant/nn/get_variable.h"
#include "sextant/proto/meta_graph.pb.h"
#include "sextant/runtime/session.h"
#include "tests/conformance/json_values.h"
#include "tests/conformance/own_models.h"

namespace sextant::conformance {
namespace {

using nlohmann::json;
using Batch = std::map<std::string, Tensor>;
using Variables = std::map<std::string, Tensor>;

std::vector<Batch> ReadBatches(const std::string& path) {
  std::vector<Batch> batches;
  TFRecordReader reader(path);
  std::string record;
  while (reader.Next(&record)) {
    const proto::Example example = ParseExample(record);
    const auto names = Names(example, "names");
    const auto values = Tensors(example, "values");
    Batch batch;
    for (size_t i = 0; i < names.size(); ++i) batch[names[i]] = values.at(i);
    batches.push_back(std::move(batch));
  }
  return batches;
}

// One way of training: a session whose variables start at the recorded checkpoint.
class Trainer {
 public:
  virtual ~Trainer() = default;
  // The scalars before the update, by name.
  virtual std::map<std::string, double> Step(const Batch& batch) = 0;
  virtual Variables Values() = 0;
  // Of the first batch, before any step; none where it cannot be had.
  virtual Variables Gradients(const Batch&) { return {}; }
};

class OwnTrainer : public Trainer {
 public:
  OwnTrainer(const json& record, const std::string& directory, const Batch& first) {
    const GraphScope use(graph_);
    auto training = BuildOwnTraining(directory, record, first);
    if (!training) throw NotFound("there is no model '{}'", record.at("name").get<std::string>());
    training_ = std::move(*training);
    for (const auto& [name, output] : training_.fetched) fetches_.push_back(output);
    session_ = std::make_unique<Session>(graph_);
    const TensorBundleReader checkpoint(directory + "/model.ckpt-0");
    for (const Variable& variable : CollectedVariables()) {
      // A part of a variable is the whole here.
      const VariableSlice* slice = SliceOf(variable);
      const std::string name = slice != nullptr ? slice->full_name : variable.name();
      session_->Run(variable.Assign(Const(checkpoint.Read(name))));
      reads_[name] = variable.value();
    }
    for (const Operation& op : training_.run_first) session_->Run(op);
    for (const auto& [gradient, variable] : training_.gradients) {
      gradients_[variable.name()] = gradient.dense();
    }
  }
  std::map<std::string, double> Step(const Batch& batch) override {
    const std::vector<Tensor> values = session_->Run(Feeds(batch), fetches_, {training_.train_op});
    std::map<std::string, double> result;
    size_t i = 0;
    for (const auto& [name, output] : training_.fetched) result[name] = values.at(i++).AsDouble();
    return result;
  }
  Variables Values() override { return Fetch({}, reads_); }
  Variables Gradients(const Batch& batch) override { return Fetch(Feeds(batch), gradients_); }

 private:
  FeedMap Feeds(const Batch& batch) const {
    FeedMap feeds;
    for (const auto& [key, output] : training_.inputs) feeds.emplace_back(output, batch.at(key));
    return feeds;
  }
  Variables Fetch(const FeedMap& feeds, const std::map<std::string, Output>& outputs) {
    Variables result;
    std::vector<Output> fetches;
    for (const auto& [name, output] : outputs) fetches.push_back(output);
    const std::vector<Tensor> values = session_->Run(feeds, fetches);
    size_t i = 0;
    for (const auto& [name, output] : outputs) result[name] = values.at(i++);
    return result;
  }

  Graph graph_;
  OwnTraining training_;
  std::vector<Output> fetches_;
  std::map<std::string, Output> reads_, gradients_;
  std::unique_ptr<Session> session_;
};

class ImportedTrainer : public Trainer {
 public:
  ImportedTrainer(const json& record, const std::string& directory) : record_(record) {
    const std::string path = directory + "/model.ckpt-0.meta";
    proto::MetaGraphDef meta;
    if (!meta.ParseFromString(FileSystem::ForPath(path).ReadFile(path))) {
      throw DataLoss("{} is no MetaGraphDef", path);
    }
    saver_ = meta.saver_def();
    ImportMetaGraphDef(meta, graph_);
    session_ = std::make_unique<Session>(graph_);
    session_->Run({{saver_.filename_tensor_name(), Tensor(directory + "/model.ckpt-0")}}, {},
                  {saver_.restore_op_name()});
    if (record.contains("run_before_first_step")) {
      for (const json& op : record.at("run_before_first_step")) {
        session_->Run(NamedFeeds{}, {}, {op.get<std::string>()});
      }
    }
    fetches_ = {record.at("loss_tensor").get<std::string>()};
    names_ = {"loss"};
    for (const auto& [name, tensor] : record.at("fetch_tensors").items()) {
      fetches_.push_back(tensor.get<std::string>());
      names_.push_back(name);
    }
  }
  std::map<std::string, double> Step(const Batch& batch) override {
    NamedFeeds feeds;
    for (const auto& [key, tensor] : record_.at("inputs").items()) {
      feeds.emplace_back(tensor.get<std::string>(), batch.at(key));
    }
    const std::vector<Tensor> values =
        session_->Run(feeds, fetches_, {record_.at("train_op").get<std::string>()});
    std::map<std::string, double> result;
    for (size_t i = 0; i < values.size(); ++i) result[names_[i]] = values[i].AsDouble();
    return result;
  }
  // By way of the graph's own save nodes.
  Variables Values() override {
    const TemporaryDirectory directory;
    const std::string prefix = directory.path() + "/now";
    session_->Run({{saver_.filename_tensor_name(), Tensor(prefix)}}, {saver_.save_tensor_name()});
    return ReadCheckpoint(prefix);
  }

 private:
  const json& record_;
  Graph graph_;
  proto::SaverDef saver_;
  std::unique_ptr<Session> session_;
  std::vector<std::string> fetches_, names_;
};

// max |a - e| over the larger of the floor and max |e|: the golden rule for variables.
double RelativeToLargest(const Tensor& actual, const Tensor& expected, double floor) {
  if (actual.dtype() != expected.dtype() || actual.shape() != expected.shape()) return INFINITY;
  double difference = 0, largest = 0;
  const auto at = [](const Tensor& t, int64_t i) -> double {
    if (t.dtype() == DType::kFloat) return t.data<float>()[i];
    if (t.dtype() == DType::kDouble) return t.data<double>()[i];
    if (t.dtype() == DType::kInt64) return static_cast<double>(t.data<int64_t>()[i]);
    return t.data<int32_t>()[i];
  };
  for (int64_t i = 0; i < expected.num_elements(); ++i) {
    const double error = std::fabs(at(actual, i) - at(expected, i));
    if (std::isnan(error)) return INFINITY;
    difference = std::max(difference, error);
    largest = std::max(largest, std::fabs(at(expected, i)));
  }
  return difference == 0 ? 0 : difference / (floor + largest);
}

class TrajectoryComparison {
 public:
  explicit TrajectoryComparison(const json& tolerances)
      : tolerances_(tolerances), floor_(tolerances.value("max_floor", 0.0)) {}

  void Scalars(int step, const std::map<std::string, double>& actual, const json& expected) {
    for (const auto& [name, value] : expected.items()) {
      const double want = JsonNumber(value);
      if (!actual.contains(name)) return Fail("'{}' is not computed", name);
      const double error = std::fabs(actual.at(name) - want);
      if (const auto limit = ByStep(name + "_atol_by_step", step); limit && !(error <= *limit)) {
        return Fail("step {}: {} is {}, TensorFlow's {}", step + 1, name, actual.at(name), want);
      }
      if (const auto limit = ByStep(name + "_rtol_by_step", step);
          limit && !(error <= *limit * std::fabs(want))) {
        return Fail("step {}: {} is {}, TensorFlow's {}", step + 1, name, actual.at(name), want);
      }
    }
  }

  void Checkpoint(const std::string& prefix, const char* key, const Variables& actual) {
    const json& limit = tolerances_.at(key);
    if (limit.is_null()) return;
    const TensorBundleReader reader(prefix);
    for (const BundleTensorInfo& info : reader.Tensors()) {
      if (info.dtype == DType::kString) continue;
      const auto it = actual.find(info.name);
      if (it == actual.end()) return Fail("there is no variable '{}'", info.name);
      const double error = RelativeToLargest(it->second, reader.Read(info.name), floor_);
      if (!(error <= limit.get<double>())) {
        return Fail("{}: '{}' is off by {:.2g} of its largest element, {} is allowed", prefix,
                    info.name, error, limit.get<double>());
      }
    }
  }

  void Gradients(const std::string& path, const Variables& actual) {
    if (!tolerances_.contains("gradients_float64_rtol_of_max") || actual.empty() ||
        !FileSystem::ForPath(path).Exists(path)) {
      return;
    }
    const Variables expected = ReadBatches(path).at(0);
    std::vector<double> errors;
    for (const auto& [name, value] : expected) {
      const auto it = actual.find(name);
      if (it == actual.end()) return Fail("there is no gradient of '{}'", name);
      errors.push_back(RelativeToLargest(it->second, value, floor_));
      if (!(errors.back() <= tolerances_["gradients_float64_rtol_of_max"].get<double>())) {
        return Fail("the gradient of '{}' is off by {:.2g} of its largest element", name,
                    errors.back());
      }
    }
    std::nth_element(errors.begin(),
                     errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2), errors.end());
    const double median = errors[errors.size() / 2];
    if (!(median <= tolerances_["gradients_float64_median_rtol_of_max"].get<double>())) {
      Fail("gradients are off by {:.2g} in the median", median);
    }
  }

  const std::string& problem() const { return problem_; }

 private:
  template <typename... Args>
  void Fail(fmt::format_string<Args...> format, Args&&... args) {
    if (problem_.empty()) problem_ = fmt::format(format, std::forward<Args>(args)...);
  }
  std::optional<double> ByStep(const std::string& key, int step) const {
    if (!tolerances_.contains(key) || tolerances_[key].at(step).is_null()) return std::nullopt;
    return tolerances_[key].at(step).get<double>();
  }

  const json tolerances_;
  const double floor_;
  std::string problem_;
};

std::string Follow(Trainer& trainer, const json& record, const std::string& directory,
                   const std::vector<Batch>& batches) {
  TrajectoryComparison comparison(record.at("tolerances"));
  comparison.Gradients(directory + "/gradients_float64.tfrecord", trainer.Gradients(batches.at(0)));
  const json& fetched = record.at("fetched_before_update");
  for (size_t step = 0; step < batches.size() && comparison.problem().empty(); ++step) {
    comparison.Scalars(static_cast<int>(step), trainer.Step(batches[step]), fetched.at(step));
    if (step == 0) {
      comparison.Checkpoint(directory + "/model.ckpt-1", "ckpt1_rtol_of_max", trainer.Values());
    }
  }
  if (comparison.problem().empty()) {
    comparison.Checkpoint(fmt::format("{}/model.ckpt-{}", directory, batches.size()),
                          "final_rtol_of_max", trainer.Values());
  }
  return comparison.problem();
}

Counts RunOne(const std::string& directory) {
  Counts counts;
  const json record = ReadJson(directory + "/trajectory.json");
  const std::string name = record.at("name");
  const std::vector<Batch> batches = ReadBatches(directory + "/batches.tfrecord");
  Try(directory, name, "own model", counts, [&] {
    OwnTrainer trainer(record, directory, batches.at(0));
    return Follow(trainer, record, directory, batches);
  });
  Try(directory, name, "imported graph", counts, [&] {
    ImportedTrainer trainer(record, directory);
    return Follow(trainer, record, directory, batches);
  });
  return counts;
}

}  // namespace

Counts RunTrajectories(const std::string& path, const std::string& filter) {
  FileSystem& fs = FileSystem::ForPath(path);
  if (fs.Exists(path + "/trajectory.json")) return RunOne(path);
  Counts counts;
  for (const std::string& name : fs.ListDirectory(path)) {
    const std::string directory = path + "/" + name;
    if (name.find(filter) == std::string::npos || !fs.Exists(directory + "/trajectory.json"))
      continue;
    counts += RunOne(directory);
  }
  return counts;
}

}  // namespace sextant::conformance
