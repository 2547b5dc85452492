#include "sextant/train/saver_graph.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/nn/get_variable.h"
#include "sextant/ops/state/variable.h"
#include "sextant/proto/saver.pb.h"

namespace sextant {
namespace {

std::string ShapeAndSliceText(const VariableSlice& slice, const PartialShape& part) {
  std::string text, extents;
  for (int i = 0; i < slice.full_shape.rank(); ++i) {
    text += fmt::format("{} ", slice.full_shape[i]);
    extents += fmt::format("{}{},{}", i > 0 ? ":" : "", slice.offset.at(i), part.dim(i));
  }
  return text + extents;
}

// 32 hexadecimal digits, so that runs that save to the same place do not meet.
std::string RandomDigits() {
  std::random_device random;
  std::string digits;
  for (int i = 0; i < 4; ++i) digits += fmt::format("{:08x}", static_cast<uint32_t>(random()));
  return digits;
}

Tensor Strings(const std::vector<std::string>& values) { return Tensor::FromVector(values); }

// Adds the nodes in the current scopes; the order makes the names those of TensorFlow.
class SaverBuilder {
 public:
  SaverBuilder(Graph& graph, const std::vector<SavedTensor>& tensors) : graph_(graph) {
    for (const SavedTensor& tensor : tensors) {
      Node* node = graph.FindNode(tensor.variable);
      if (node == nullptr) throw NotFound("there is no variable '{}' to save", tensor.variable);
      shards_[node->device()].push_back(&tensor);
    }
  }

  proto::SaverDef Build(const SaverGraphOptions& options) {
    const Output input = Const(Tensor("model"), "filename/input");
    const Output filename = Default(input, "filename");
    prefix_ = Default(filename, "Const");
    if (!options.sharded) JoinShards();
    Output saved;
    if (options.sharded) {
      saved = SaveSharded();
    } else {
      saved = SaveShard(shards_.begin()->second, prefix_);
    }
    const Operation restore = options.sharded ? RestoreSharded() : RestoreWhole();
    proto::SaverDef def;
    def.set_filename_tensor_name(prefix_.name());
    def.set_save_tensor_name(saved.name());
    def.set_restore_op_name(restore.name());
    def.set_max_to_keep(options.max_to_keep);
    def.set_sharded(options.sharded);
    def.set_keep_checkpoint_every_n_hours(options.keep_checkpoint_every_n_hours);
    def.set_version(proto::SaverDef::V2);
    return def;
  }

 private:
  using Shard = std::vector<const SavedTensor*>;

  // All in one, sorted by key.
  void JoinShards() {
    Shard all;
    for (const auto& [device, shard] : shards_) all.insert(all.end(), shard.begin(), shard.end());
    std::stable_sort(all.begin(), all.end(), [](const SavedTensor* a, const SavedTensor* b) {
      return std::tie(a->key, a->variable) < std::tie(b->key, b->variable);
    });
    shards_ = {{"", std::move(all)}};
  }

  static Output Default(Output value, std::string_view name) {
    return OpBuilder("PlaceholderWithDefault")
        .Input(value)
        .Attr("shape", PartialShape(Shape()))
        .Name(name)
        .Build();
  }

  static std::pair<Output, Output> NamesOf(const Shard& shard, const std::string& op) {
    std::vector<std::string> keys, slices;
    for (const SavedTensor* tensor : shard) {
      keys.push_back(tensor->key);
      slices.push_back(tensor->shape_and_slice);
    }
    const Output names = Const(Strings(keys), op + "/tensor_names");
    return {names, Const(Strings(slices), op + "/shape_and_slices")};
  }

  // The value of a variable: the read made with it, where there is one.
  Output ReadOf(const std::string& variable) const {
    const Output handle(graph_.FindNode(variable), 0);
    if (handle.node()->type() != "VarHandleOp") {
      Node* read = graph_.FindNode(variable + "/read");
      return read != nullptr ? read->output(0) : handle;
    }
    Node* read = graph_.FindNode(variable + "/Read/ReadVariableOp");
    return read != nullptr ? read->output(0) : ReadVariable(handle);
  }

  // Nodes of one save are numbered together: "SaveV2_1/tensor_names" belongs to "SaveV2_1".
  static std::string Numbered(const char* base, int number) {
    return number == 0 ? base : fmt::format("{}_{}", base, number);
  }

  Output SaveShard(const Shard& shard, Output filename, int number = 0) {
    std::vector<Output> values;
    for (const SavedTensor* tensor : shard) values.push_back(ReadOf(tensor->variable));
    const auto [names, slices] = NamesOf(shard, Numbered("SaveV2", number));
    const Operation save = OpBuilder("SaveV2")
                               .Input(filename)
                               .Input(names)
                               .Input(slices)
                               .Input(values)
                               .Name("SaveV2")
                               .BuildOperation();
    return OpBuilder("Identity")
        .Input(filename)
        .ControlInput(save)
        .Name("control_dependency")
        .Build();
  }

  Output SaveSharded() {
    const Output folder =
        Const(Tensor(fmt::format("_temp_{}/part", RandomDigits())), "StringJoin/inputs_1");
    const Output temporary =
        OpBuilder("StringJoin").Input({prefix_, folder}).Name("StringJoin").Build();
    const Output count = Const(Tensor(static_cast<int32_t>(shards_.size())), "num_shards");
    std::vector<Output> filenames;
    std::vector<Operation> done;
    int number = 0;
    for (const auto& [device, shard] : shards_) {
      const DeviceScope on(device);
      const Output index = Const(Tensor(static_cast<int32_t>(number)),
                                 Numbered("ShardedFilename", number) + "/shard");
      filenames.push_back(OpBuilder("ShardedFilename")
                              .Input(temporary)
                              .Input(index)
                              .Input(count)
                              .Name("ShardedFilename")
                              .Build());
      done.push_back(SaveShard(shard, filenames.back(), number++));
    }
    const Output prefixes = OpBuilder("Pack")
                                .Input(filenames)
                                .ControlInputs(done)
                                .Name("MergeV2Checkpoints/checkpoint_prefixes")
                                .Build();
    done.insert(done.begin(), OpBuilder("MergeV2Checkpoints")
                                  .Input(prefixes)
                                  .Input(prefix_)
                                  .Name("MergeV2Checkpoints")
                                  .BuildOperation());
    return OpBuilder("Identity").Input(prefix_).ControlInputs(done).Name("Identity").Build();
  }

  std::vector<Operation> RestoreShard(const Shard& shard, int number = 0) {
    std::vector<DType> types;
    for (const SavedTensor* tensor : shard) {
      const Output variable(graph_.FindNode(tensor->variable), 0);
      types.push_back(variable.node()->type() == "VarHandleOp"
                          ? variable.node()->attr<DType>("dtype")
                          : RemoveRef(variable.dtype()));
    }
    const auto [names, slices] = NamesOf(shard, Numbered("RestoreV2", number));
    const std::vector<Output> values = OpBuilder("RestoreV2")
                                           .Input(prefix_)
                                           .Input(names)
                                           .Input(slices)
                                           .Attr("dtypes", types)
                                           .Name("RestoreV2")
                                           .BuildAll();
    std::vector<Operation> assigns;
    for (size_t i = 0; i < shard.size(); ++i) {
      const Output variable(graph_.FindNode(shard[i]->variable), 0);
      if (variable.node()->type() == "VarHandleOp") {
        const Output value = OpBuilder("Identity").Input(values[i]).Name("Identity").Build();
        assigns.push_back(OpBuilder("AssignVariableOp")
                              .Input(variable)
                              .Input(value)
                              .Name("AssignVariableOp")
                              .BuildOperation());
      } else {
        assigns.push_back(
            OpBuilder("Assign").Input(variable).Input(values[i]).Name("Assign").BuildOperation());
      }
    }
    return assigns;
  }

  static Operation Group(const std::vector<Operation>& operations, std::string_view name) {
    return OpBuilder("NoOp").ControlInputs(operations).Name(name).BuildOperation();
  }

  Operation RestoreWhole() { return Group(RestoreShard(shards_.begin()->second), "restore_all"); }

  Operation RestoreSharded() {
    std::vector<Operation> groups;
    int number = 0;
    for (const auto& [device, shard] : shards_) {
      const DeviceScope on(device);
      groups.push_back(Group(RestoreShard(shard, number++), "restore_shard"));
    }
    return Group(groups, "restore_all");
  }

  Graph& graph_;
  std::map<std::string, Shard> shards_;  // by device
  Output prefix_;
};

}  // namespace

std::vector<SavedTensor> SavedTensorsOf(const Graph& graph) {
  std::vector<SavedTensor> tensors;
  std::set<std::string> seen;
  for (const char* collection : {"variables", "saveable_objects"}) {
    for (const Output& variable : graph.Collection(collection)) {
      const std::string& name = variable.node()->name();
      if (!seen.insert(name).second) continue;
      SavedTensor tensor{name, name, ""};
      if (variable.node()->type() == "VarHandleOp") {
        const Variable wrapped = Variable::FromHandle(variable);
        if (const VariableSlice* slice = SliceOf(wrapped)) {
          tensor.key = slice->full_name;
          tensor.shape_and_slice = ShapeAndSliceText(*slice, wrapped.shape());
        }
      }
      tensors.push_back(std::move(tensor));
    }
  }
  std::sort(tensors.begin(), tensors.end(), [](const SavedTensor& a, const SavedTensor& b) {
    return std::tie(a.key, a.variable) < std::tie(b.key, b.variable);
  });
  for (size_t i = 1; i < tensors.size(); ++i) {
    const SavedTensor &a = tensors[i - 1], &b = tensors[i];
    if (a.key == b.key && (a.shape_and_slice.empty() || a.shape_and_slice == b.shape_and_slice)) {
      throw InvalidArgument("the variables '{}' and '{}' would both be saved as '{}'", a.variable,
                            b.variable, a.key);
    }
  }
  return tensors;
}

std::vector<SavedTensor> SavedTensorsOf(const Graph& graph,
                                        const std::map<std::string, Variable>& variables) {
  std::vector<SavedTensor> tensors;
  for (const auto& [key, variable] : variables) {
    if (!variable) throw InvalidArgument("the variable to be saved as '{}' is empty", key);
    if (&variable.handle().graph() != &graph) {
      throw InvalidArgument("variable '{}', to be saved as '{}', is one of another graph",
                            variable.name(), key);
    }
    SavedTensor tensor{variable.name(), key, ""};
    if (const VariableSlice* slice = SliceOf(variable)) {
      tensor.shape_and_slice = ShapeAndSliceText(*slice, variable.shape());
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

proto::SaverDef AddSaverGraph(Graph& graph, const std::vector<SavedTensor>& tensors,
                              const SaverGraphOptions& options) {
  if (tensors.empty()) throw InvalidArgument("the graph has no variables to save");
  const GraphScope in(graph);
  const NameScope scope(options.scope);
  return SaverBuilder(graph, tensors).Build(options);
}

}  // namespace sextant
