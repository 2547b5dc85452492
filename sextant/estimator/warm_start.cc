#include "sextant/estimator/warm_start.h"

#include <re2/re2.h>

#include <set>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "sextant/device/resource_manager.h"
#include "sextant/device/variable.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/ops/state/variable.h"
#include "sextant/runtime/session.h"
#include "sextant/train/own_resources.h"
#include "sextant/train/saver_graph.h"

namespace sextant {
namespace {

std::string PrefixOf(const std::string& checkpoint) {
  if (CheckpointExists(checkpoint)) return checkpoint;
  if (const auto latest = LatestCheckpoint(checkpoint)) return *latest;
  // A SavedModel keeps its checkpoint here.
  std::string saved_model = JoinPath(checkpoint, "variables/variables");
  if (CheckpointExists(saved_model)) return saved_model;
  throw NotFound("{} to start from is neither a checkpoint nor a directory with one", checkpoint);
}

class Starter {
 public:
  Starter(const WarmStart& warm_start, Session& session)
      : warm_start_(warm_start),
        session_(session),
        reader_(PrefixOf(warm_start.checkpoint)),
        pattern_("^(?:" + warm_start.variables + ")", RE2::Quiet) {
    if (!pattern_.ok()) {
      throw InvalidArgument("'{}', the variables to warm-start, is no regular expression: {}",
                            warm_start.variables, pattern_.error());
    }
    for (const Output& handle : session.graph().Collection(kTrainableVariables)) {
      trainable_.insert(handle.node()->name());
    }
  }

  void Run() {
    int count = 0;
    for (const SavedTensor& tensor : SavedTensorsOf(session_.graph())) {
      if (!trainable_.contains(tensor.variable) || !RE2::PartialMatch(tensor.key, pattern_)) {
        continue;
      }
      Set(tensor);
      ++count;
    }
    if (count == 0) {
      throw InvalidArgument("no trainable variable's name matches '{}': nothing to warm-start",
                            warm_start_.variables);
    }
    LogInfo("Warm-started {} variables from {}", count, reader_.prefix());
  }

 private:
  void Set(const SavedTensor& tensor) {
    const auto renamed = warm_start_.names.find(tensor.key);
    const std::string& key = renamed == warm_start_.names.end() ? tensor.key : renamed->second;
    if (!reader_.Contains(key)) {
      throw NotFound(
          "checkpoint {} to warm-start from has no tensor '{}' for variable '{}'; leave it out of "
          "the variables, or give its name there",
          reader_.prefix(), key, tensor.key);
    }
    const BundleTensorInfo info = reader_.Info(key);
    const auto variable =
        session_.resources().Lookup<VariableResource>("localhost", tensor.variable);
    if (!variable) {
      train::ThrowIfOfAnotherTask(session_, *session_.graph().FindNode(tensor.variable));
      throw FailedPrecondition("variable '{}' has no value", tensor.variable);
    }
    const ShapeAndSlice place =
        tensor.shape_and_slice.empty()
            ? ShapeAndSlice{info.shape, TensorSlice::Full(info.shape.rank())}
            : ShapeAndSlice::Parse(tensor.shape_and_slice);
    std::lock_guard lock(variable->mutex());
    const Shape expected = tensor.shape_and_slice.empty() ? variable->value().shape() : place.shape;
    if (expected != info.shape || variable->dtype() != info.dtype) {
      throw InvalidArgument(
          "variable '{}' is {} {}, but '{}' in checkpoint {} to warm-start from is {} {}",
          tensor.key, DTypeName(variable->dtype()), expected.ToString(), key, reader_.prefix(),
          DTypeName(info.dtype), info.shape.ToString());
    }
    variable->set_value(tensor.shape_and_slice.empty() ? reader_.Read(key)
                                                       : reader_.ReadSlice(key, place.slice));
  }

  const WarmStart& warm_start_;
  Session& session_;
  const TensorBundleReader reader_;
  const RE2 pattern_;
  std::set<std::string> trainable_;
};

}  // namespace

void ApplyWarmStart(const WarmStart& warm_start, Session& session) {
  if (warm_start.checkpoint.empty()) return;
  Starter(warm_start, session).Run();
}

}  // namespace sextant
