#include "sextant/runtime/saved_model.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

#include "sextant/base/file_system.h"
#include "sextant/base/thread_team.h"
#include "sextant/device/resource_manager.h"
#include "sextant/device/variable.h"
#include "sextant/formats/saved_model_dir.h"
#include "sextant/graph/meta_graph.h"
#include "sextant/proto/saved_model.pb.h"
#include "sextant/runtime/sample_inputs.h"
#include "sextant/runtime/signature_effects.h"
#include "sextant/tensor/tensor_proto.h"

namespace sextant {
namespace {

using proto::MetaGraphDef;
using proto::TensorInfo;

// The parts of a signature's tensors, each under a key of its own.
void AddTensors(const std::string& key, const TensorInfo& info, const Graph& graph,
                std::map<std::string, SignatureTensor>& tensors) {
  const auto add = [&](const std::string& part, const std::string& name) {
    const Output output = graph.FindOutput(name);
    if (output.node()->num_outputs() == 0) {
      throw InvalidArgument("'{}' is the operation '{}', not a tensor", part, name);
    }
    tensors[part] = {output.name(), RemoveRef(output.dtype()), output.shape(),
                     output.node()->type() == "PlaceholderWithDefault"};
  };
  switch (info.encoding_case()) {
    case TensorInfo::kName:
      add(key, info.name());
      break;
    case TensorInfo::kCooSparse:
      add(key + "/indices", info.coo_sparse().indices_tensor_name());
      add(key + "/values", info.coo_sparse().values_tensor_name());
      add(key + "/dense_shape", info.coo_sparse().dense_shape_tensor_name());
      break;
    case TensorInfo::kCompositeTensor:
      for (int i = 0; i < info.composite_tensor().components_size(); ++i) {
        AddTensors(fmt::format("{}/{}", key, i), info.composite_tensor().components(i), graph,
                   tensors);
      }
      break;
    case TensorInfo::ENCODING_NOT_SET:
      throw InvalidArgument("'{}' names no tensor", key);
  }
}

std::vector<std::string> KeysOf(const std::map<std::string, SignatureTensor>& tensors) {
  std::vector<std::string> keys;
  for (const auto& [key, tensor] : tensors) keys.push_back(key);
  return keys;
}

std::vector<Output> OutputsOf(const std::map<std::string, SignatureTensor>& tensors,
                              const Graph& graph) {
  std::vector<Output> outputs;
  for (const auto& [key, tensor] : tensors) outputs.push_back(graph.FindOutput(tensor.name));
  return outputs;
}

// The operation that fills tables and the like after the variables are there; "" when there is
// none.
std::string InitOp(const MetaGraphDef& meta_graph) {
  const auto signature = meta_graph.signature_def().find(kInitOpSignature);
  if (signature != meta_graph.signature_def().end()) {
    const auto& outputs = signature->second.outputs();
    const auto op = outputs.find(kInitOpSignature);
    if (op == outputs.end()) {
      throw InvalidArgument("signature '{0}' has no output '{0}'", kInitOpSignature);
    }
    return op->second.name();
  }
  for (const char* name : {"saved_model_main_op", "legacy_init_op"}) {
    const auto collection = meta_graph.collection_def().find(name);
    if (collection == meta_graph.collection_def().end()) continue;
    const auto& nodes = collection->second.node_list().value();
    if (nodes.size() != 1) {
      throw InvalidArgument("collection '{}' names {} operations, not one", name, nodes.size());
    }
    return nodes[0];
  }
  return "";
}

// "op" and "op:0" both name the operation.
std::string WithoutIndex(std::string name) {
  const size_t colon = name.rfind(':');
  if (colon != std::string::npos) name.resize(colon);
  return name;
}

// The variables, and the like, that the operation restores: the nodes it needs which give a handle
// or a reference that they did not take.
std::vector<std::string> RestoredBy(const Node* restore) {
  const auto is_handle = [](const Output& output) {
    return output.dtype() == DType::kResource || IsRef(output.dtype());
  };
  std::vector<std::string> held;
  std::vector<const Node*> needed = {restore};
  std::set<const Node*> seen = {restore};
  const auto need = [&](const Node* node) {
    if (seen.insert(node).second) needed.push_back(node);
  };
  while (!needed.empty()) {
    const Node* node = needed.back();
    needed.pop_back();
    const bool gives = node->num_outputs() > 0 && is_handle(node->output(0));
    if (gives && std::ranges::none_of(node->inputs(), is_handle)) held.push_back(node->name());
    for (const Output& input : node->inputs()) need(input.node());
    for (const Node* control : node->control_inputs()) need(control);
  }
  std::ranges::sort(held);
  return held;
}

}  // namespace

// Clients may ask for any of 2^n subsets of outputs: Plans of a limited number of subsets are
// cached; for others all outputs are computed.
struct Signature::Subsets {
  static constexpr size_t kMost = 32;
  std::mutex mutex;
  std::map<std::vector<int>, Callable> callables;
};

Signature::Signature(std::string key, const proto::SignatureDef& def, Session& session)
    : key_(std::move(key)), method_name_(def.method_name()), session_(&session) {
  const Graph& graph = session.graph();
  for (const auto& [name, info] : def.inputs()) AddTensors(name, info, graph, inputs_);
  for (const auto& [name, info] : def.outputs()) AddTensors(name, info, graph, outputs_);
  for (const auto& [name, value] : def.defaults()) {
    if (const auto input = inputs_.find(name); input != inputs_.end()) {
      input->second.optional = true;
      defaults_[name] = input->second.default_value = TensorFromProto(value);
    }
  }
  run_ = session.MakeCallable(OutputsOf(inputs_, graph), OutputsOf(outputs_, graph));
  subsets_ = std::make_unique<Subsets>();
}

Signature::~Signature() = default;
Signature::Signature(Signature&&) noexcept = default;
Signature& Signature::operator=(Signature&&) noexcept = default;

void Signature::CheckInput(const std::string& key, const SignatureTensor& wanted,
                           const Tensor& value) const {
  if (value.dtype() == wanted.dtype && wanted.shape.CompatibleWith(value.shape())) return;
  throw InvalidArgument("input '{}' of signature '{}' is {}{}, but {} was given", key, key_,
                        DTypeName(wanted.dtype), wanted.shape.ToString(),
                        value.valid() ? value.Describe() : "no value");
}

void Signature::Check(const NamedTensors& inputs) const {
  for (const auto& [key, value] : inputs) {
    const auto input = inputs_.find(key);
    if (input == inputs_.end()) {
      throw InvalidArgument("signature '{}' has no input '{}'; it takes: {}", key_, key,
                            fmt::join(KeysOf(inputs_), ", "));
    }
    CheckInput(key, input->second, value);
  }
  for (const auto& [key, tensor] : inputs_) {
    if (!tensor.optional && !inputs.contains(key)) {
      throw InvalidArgument("input '{}' of signature '{}' is missing", key, key_);
    }
  }
}

NamedTensors Signature::Run(const NamedTensors& inputs, const RunOptions& options) const {
  Check(inputs);
  std::vector<Tensor> feeds;
  FeedMap partial;  // used when an input is left to its default in the graph
  for (const auto& [key, tensor] : inputs_) {
    const auto given = inputs.find(key);
    const auto fallback = defaults_.find(key);
    if (given == inputs.end() && fallback == defaults_.end()) continue;
    feeds.push_back(given != inputs.end() ? given->second : fallback->second);
    partial.emplace_back(session_->graph().FindOutput(tensor.name), feeds.back());
  }
  std::vector<Tensor> values =
      feeds.size() == inputs_.size()
          ? run_(feeds, options)
          : session_->Run(partial, OutputsOf(outputs_, session_->graph()), {}, options);
  NamedTensors outputs;
  size_t i = 0;
  for (const auto& [key, tensor] : outputs_) outputs.emplace(key, std::move(values[i++]));
  return outputs;
}

void Signature::Call(std::span<const Tensor> inputs, std::span<const int> wanted,
                     std::span<Tensor> outputs, const RunOptions& options) const {
  if (inputs.size() != inputs_.size()) {
    throw InvalidArgument("signature '{}' takes {} inputs, not {}", key_, inputs_.size(),
                          inputs.size());
  }
  bool all = true;
  size_t i = 0;
  for (const auto& [key, tensor] : inputs_) {
    const Tensor& value = inputs[i++];
    if (value.valid() || !tensor.optional) {
      CheckInput(key, tensor, value);
    } else {
      all = false;
    }
  }
  if (!all) return CallWithout(inputs, wanted, outputs, options);
  const Callable* call = wanted.empty() ? &run_ : FindSubset(wanted);
  if (call != nullptr) return call->Call(inputs, outputs, options);
  std::vector<Tensor> values = run_(inputs, options);
  for (size_t k = 0; k < wanted.size(); ++k) outputs[k] = std::move(values[wanted[k]]);
}

// Some inputs have no value.
void Signature::CallWithout(std::span<const Tensor> inputs, std::span<const int> wanted,
                            std::span<Tensor> outputs, const RunOptions& options) const {
  NamedTensors named;
  size_t i = 0;
  for (const auto& [key, tensor] : inputs_) {
    if (const Tensor& value = inputs[i++]; value.valid()) named.emplace(key, value);
  }
  NamedTensors values = Run(named, options);
  size_t place = 0, next = 0;
  for (auto& [key, value] : values) {
    const bool is_wanted = wanted.empty() || std::ranges::find(wanted, place) != wanted.end();
    if (is_wanted) outputs[next++] = std::move(value);
    ++place;
  }
}

const Callable* Signature::FindSubset(std::span<const int> wanted) const {
  std::vector<int> places(wanted.begin(), wanted.end());
  const std::lock_guard lock(subsets_->mutex);
  const auto found = subsets_->callables.find(places);
  if (found != subsets_->callables.end()) return &found->second;
  if (subsets_->callables.size() >= Subsets::kMost) return nullptr;
  const Graph& graph = session_->graph();
  const std::vector<Output> all = OutputsOf(outputs_, graph);
  std::vector<Output> some;
  for (const int place : places) some.push_back(all.at(place));
  return &subsets_->callables
              .emplace(std::move(places), session_->MakeCallable(OutputsOf(inputs_, graph), some))
              .first->second;
}

bool Signature::Prepare(int64_t rows, int concurrency, const RunOptions& options) const {
  // More than a frame takes to decide how it runs (schedule_trial.cc). Short runs are best made by
  // one thread; then the team is left to others, who may be using it.
  constexpr int kFirstRuns = 3, kRuns = 32;
  constexpr std::chrono::microseconds kShort{500};
  if (!OnlyReads(OutputsOf(outputs_, session_->graph()))) return false;
  const std::optional<std::vector<Tensor>> inputs = SampleInputs(*this, session_->graph(), rows);
  if (!inputs) return false;
  using Clock = std::chrono::steady_clock;
  auto shortest = Clock::duration::max();
  const auto run = [&](int times) {
    std::vector<Tensor> outputs(outputs_.size());
    for (int i = 0; i < times; ++i) {
      const auto begun = Clock::now();
      Call(*inputs, {}, outputs, options);
      shortest = std::min(shortest, Clock::now() - begun);
    }
  };
  try {
    std::optional<ThreadTeam::Alone> alone(std::in_place);
    run(kFirstRuns);
    if (shortest > kShort) alone.reset();
    run(kRuns - kFirstRuns);
  } catch (const Error& error) {
    if (error.code() == Code::kCancelled) throw;
    return false;
  }
  if (concurrency < 2) return true;
  // Runs that overlap have a frame each, with buffers and weights in the layouts of its kernels.
  std::barrier together(concurrency);
  const auto overlap = [&] {
    const ThreadTeam::Alone alone;
    std::vector<Tensor> outputs(outputs_.size());
    together.arrive_and_wait();
    try {
      for (int i = 0; i < 2; ++i) Call(*inputs, {}, outputs, options);
    } catch (const Error&) {  // cancelled, which the next run will say
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 1; i < concurrency; ++i) threads.emplace_back(overlap);
  overlap();
  return true;
}

SavedModel::SavedModel() = default;
SavedModel::~SavedModel() = default;
SavedModel::SavedModel(SavedModel&&) noexcept = default;
SavedModel& SavedModel::operator=(SavedModel&&) noexcept = default;

SavedModel SavedModel::Load(const std::string& directory, const std::set<std::string>& tags,
                            const SessionOptions& options, CancellationToken* cancellation) {
  const auto check = [&] {
    if (cancellation != nullptr) cancellation->ThrowIfCancelled();
  };
  SavedModel model;
  model.directory_ = directory;
  proto::SavedModel proto = ReadSavedModel(directory);
  try {
    model.meta_graph_ = std::make_unique<MetaGraphDef>(
        std::move(*proto.mutable_meta_graphs(FindMetaGraph(proto, tags))));
    model.graph_ = std::make_unique<Graph>();
    check();
    ImportMetaGraphDef(*model.meta_graph_, *model.graph_);
    model.meta_graph_->clear_graph_def();
    check();
    model.session_ = std::make_unique<Session>(*model.graph_, options);
    RunOptions run;
    run.cancellation = cancellation;
    model.Restore(run);
    model.AddSignatures();
  } catch (const Error& e) {
    throw e.WithPrefix(directory + ": ");
  }
  return model;
}

void SavedModel::Restore(const RunOptions& options) {
  NamedFeeds feeds;
  for (const SavedAsset& asset : AssetsOf(*meta_graph_)) {
    feeds.emplace_back(asset.tensor, Tensor(SavedAssetPath(directory_, asset.filename)));
  }
  const std::string variables = SavedVariablesPrefix(directory_);
  const proto::SaverDef& saver = meta_graph_->saver_def();
  if (!saver.restore_op_name().empty()) {
    const std::string restore_op = WithoutIndex(saver.restore_op_name());
    if (FileSystem::ForPath(directory_).Exists(variables + ".index")) {
      NamedFeeds restore = feeds;
      restore.emplace_back(saver.filename_tensor_name(), Tensor(variables));
      session_->Run(restore, {}, {restore_op}, options);
    } else if (const auto held = RestoredBy(graph_->FindNode(restore_op)); !held.empty()) {
      throw NotFound(
          "the values of its variables ('{}'{}) are missing, there is no {}.index: copy the export "
          "as a whole, or export the model again",
          held[0], held.size() > 1 ? ", ..." : "", variables);
    }
  }
  const std::string init = InitOp(*meta_graph_);
  if (!init.empty()) session_->Run(feeds, {}, {WithoutIndex(init)}, options);
}

void SavedModel::AddSignatures() {
  for (const auto& [key, def] : meta_graph_->signature_def()) {
    if (key == kInitOpSignature || key == kTrainOpSignature) continue;
    try {
      signatures_.emplace(key, Signature(key, def, *session_));
    } catch (const Error& e) {
      throw e.WithPrefix(fmt::format("signature '{}': ", key));
    }
  }
}

const Signature& SavedModel::signature(std::string_view key) const {
  const auto found = signatures_.find(key);
  if (found != signatures_.end()) return found->second;
  throw NotFound("{} has no signature '{}'; there are: {}", directory_, key,
                 fmt::join(signature_keys(), ", "));
}

int64_t SavedModel::bytes() const {
  int64_t bytes = 0;
  for (const auto& [name, resource] : session_->resources().All()) {
    const auto variable = std::dynamic_pointer_cast<VariableResource>(resource);
    if (variable == nullptr) continue;
    const std::lock_guard lock(variable->mutex());
    if (variable->initialized()) bytes += static_cast<int64_t>(variable->value().bytes());
  }
  return bytes;
}

std::vector<std::string> SavedModel::signature_keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, signature] : signatures_) keys.push_back(key);
  return keys;
}

}  // namespace sextant
