#include "sextant/graph/passes/effects.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "sextant/graph/passes/loop_frames.h"

namespace sextant {
namespace {

// Stateful by signature, yet nothing is lost when they do not run.
bool OnlyReads(const std::string& type) {
  static const auto* kTypes =
      new std::unordered_set<std::string_view>{"VarHandleOp",
                                               "ReadVariableOp",
                                               "VarIsInitializedOp",
                                               "VariableShape",
                                               "ResourceGather",
                                               "ResourceGatherNd",
                                               "Variable",
                                               "VariableV2",
                                               "_Arg",
                                               "StackV2",
                                               "TensorArrayV3",
                                               "TensorArrayReadV3",
                                               "TensorArrayGatherV3",
                                               "TensorArrayConcatV3",
                                               "TensorArraySizeV3",
                                               "TensorArrayGradV3",
                                               "HashTableV2",
                                               "LookupTableFindV2",
                                               "LookupTableSizeV2",
                                               "LookupTableExportV2",
                                               "AnonymousHashTable",
                                               "MutableHashTableV2",
                                               "AnonymousMutableHashTable",
                                               "MutableHashTableOfTensorsV2",
                                               "AnonymousMutableHashTableOfTensors",
                                               "MutableDenseHashTableV2",
                                               "AnonymousMutableDenseHashTable",
                                               "FIFOQueueV2",
                                               "PaddingFIFOQueueV2",
                                               "RandomShuffleQueueV2",
                                               "PriorityQueueV2",
                                               "QueueSizeV2",
                                               "QueueIsClosedV2",
                                               "FixedLengthRecordReaderV2",
                                               "TextLineReaderV2",
                                               "TFRecordReaderV2",
                                               "WholeFileReaderV2",
                                               "IdentityReaderV2",
                                               "ReaderNumRecordsProducedV2",
                                               "ReaderNumWorkUnitsCompletedV2",
                                               "ReaderSerializeStateV2",
                                               "Iterator",
                                               "IteratorV2",
                                               "IteratorToStringHandle",
                                               "IteratorFromStringHandle",
                                               "IteratorFromStringHandleV2",
                                               "RandomUniform",
                                               "RandomUniformInt",
                                               "RandomStandardNormal",
                                               "TruncatedNormal",
                                               "RandomShuffle",
                                               "Multinomial",
                                               "ParameterizedTruncatedNormal",
                                               "RandomGamma",
                                               "RandomPoissonV2",
                                               "SampleDistortedBoundingBox",
                                               "SampleDistortedBoundingBoxV2",
                                               "Restore",
                                               "RestoreSlice",
                                               "RestoreV2",
                                               "LogUniformCandidateSampler",
                                               "UniformCandidateSampler"};
  return kTypes->contains(type);
}

void CollectFunctions(const Node& node, std::vector<FuncAttr>* functions) {
  for (const auto& [name, value] : node.attrs()) {
    if (value.Is<FuncAttr>()) functions->push_back(value.Get<FuncAttr>());
    if (value.Is<std::vector<FuncAttr>>()) {
      const auto& list = value.Get<std::vector<FuncAttr>>();
      functions->insert(functions->end(), list.begin(), list.end());
    }
  }
}

}  // namespace

bool Effects::HasEffect(const Node& node) {
  if (!node.op().stateful() || OnlyReads(node.type())) return false;
  std::vector<FuncAttr> functions;
  CollectFunctions(node, &functions);
  if (functions_.Find(node.type()) != nullptr) {
    functions.push_back({node.type(), std::make_shared<AttrMap>(node.attrs())});
  }
  if (functions.empty()) return true;
  return std::any_of(functions.begin(), functions.end(),
                     [&](const FuncAttr& function) { return FunctionHasEffect(function); });
}

std::vector<Node*> Effects::EndsIn(const FunctionBody& body) {
  std::vector<Node*> ends;
  std::optional<LoopFrames> frames;
  for (int id = 0; id < body.graph->num_nodes() && !frames; ++id) {
    if (body.graph->node(id)->type() == "Enter") frames.emplace(*body.graph);
  }
  for (const Operation& effect : body.effects) {
    if (!HasEffect(*effect.node())) continue;
    int frame = frames ? frames->FrameOf(effect.node()) : -1;
    if (frame < 0) {
      ends.push_back(effect.node());
      continue;
    }
    while (frames->frames()[frame].parent >= 0) frame = frames->frames()[frame].parent;
    const std::vector<Node*>& exits = frames->frames()[frame].exits;
    ends.insert(ends.end(), exits.begin(), exits.end());
  }
  return ends;
}

bool Effects::FunctionHasEffect(const FuncAttr& function) {
  const Function* found = functions_.Find(function.name);
  if (found == nullptr) return true;
  // While it is being looked at, a recursive function is taken to have none of its own.
  const auto [entry, first] = known_.emplace(function.name, false);
  if (!first) return entry->second;
  static const AttrMap kNone;
  const auto body = found->Instantiate(functions_, function.attrs ? *function.attrs : kNone);
  const bool effect = std::any_of(body->effects.begin(), body->effects.end(),
                                  [&](const Operation& op) { return HasEffect(*op.node()); });
  known_[function.name] = effect;
  return effect;
}

}  // namespace sextant
