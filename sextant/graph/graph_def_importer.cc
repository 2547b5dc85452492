#include "sextant/graph/graph_def_importer.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "sextant/graph/arg_ranges.h"
#include "sextant/graph/topological_order.h"
#include "sextant/graph/unknown_op.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/tensor/tensor_proto.h"

namespace sextant {
namespace {

using proto::NodeDef;

// More outputs of an op that nobody knows are not believed.
constexpr int kMaxUnknownOutputs = 1 << 16;

Error NodeError(const NodeDef& def, const Error& error) {
  if (error.message().starts_with('[')) return error;
  return error.WithPrefix(fmt::format("[{} {}] ", def.op(), def.name()));
}

bool IsNextIteration(const Node& node) {
  const std::string_view type = ImportedType(node);
  return type == "NextIteration" || type == "RefNextIteration";
}
bool IsMerge(const Node& node) {
  const std::string_view type = ImportedType(node);
  return type == "Merge" || type == "RefMerge";
}

// A number without sign and leading zeros; -1 when it is none or does not fit.
int ParseIndex(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool valid = error == std::errc() && end == text.data() + text.size() && text[0] != '-' &&
                     (text.size() == 1 || text[0] != '0');
  return valid ? value : -1;
}

}  // namespace

GraphDefImporter::GraphDefImporter(Graph& graph, Spelling spelling, std::string prefix)
    : graph_(graph),
      spelling_(spelling),
      prefix_(std::move(prefix)),
      old_num_nodes_(graph.num_nodes()),
      old_functions_(graph.functions_),
      old_producer_(graph.producer),
      old_min_consumer_(graph.min_consumer),
      old_bad_consumers_(graph.bad_consumers),
      old_extra_(graph.extra_) {}

GraphDefImporter::~GraphDefImporter() {
  if (committed_) return;
  for (size_t i = old_num_nodes_; i < graph_.nodes_.size(); ++i) {
    graph_.by_name_.erase(graph_.nodes_[i]->name_);
  }
  graph_.nodes_.resize(old_num_nodes_);
  graph_.functions_ = old_functions_;
  graph_.producer = old_producer_;
  graph_.min_consumer = old_min_consumer_;
  graph_.bad_consumers = old_bad_consumers_;
  graph_.extra_ = old_extra_;
}

void GraphDefImporter::Commit() {
  graph_.used_names_.reserve(graph_.nodes_.size());
  for (size_t i = old_num_nodes_; i < graph_.nodes_.size(); ++i) {
    std::string key = graph_.nodes_[i]->name_;
    for (char& c : key) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    graph_.used_names_.emplace(std::move(key), 1);
  }
  committed_ = true;
}

void GraphDefImporter::AddArgument(std::string_view name, std::vector<Output> values) {
  if (!index_.emplace(name, ~static_cast<int>(arguments_.size())).second) {
    throw InvalidArgument("there are two arguments named '{}'", name);
  }
  arguments_.push_back(std::move(values));
}

void GraphDefImporter::AddNodes(const NodeDefs& defs) {
  first_node_ = graph_.num_nodes();
  graph_.nodes_.reserve(first_node_ + defs.size());
  graph_.by_name_.reserve(first_node_ + defs.size());
  index_.reserve(index_.size() + defs.size());
  for (const NodeDef& def : defs) {
    try {
      CreateNode(def);
    } catch (const Error& e) {
      throw NodeError(def, e);
    }
  }
  ParseRefs(defs);
  const auto inputs = [&](int i, FunctionRef<void(int)> visit) {
    for (size_t r = first_ref_[i]; r < first_ref_[i + 1]; ++r) {
      if (refs_[r].node >= 0 && !IsBackEdge(refs_[r], i)) visit(refs_[r].node);
    }
  };
  const auto name = [&](int i) { return node(i)->name(); };
  for (const int i : TopologicalOrder(defs.size(), inputs, name)) {
    try {
      FinishNode(i);
    } catch (const Error& e) {
      throw NodeError(defs[i], e);
    }
  }
  if (has_unknown_) TypeUnknownOutputs();
}

void GraphDefImporter::CreateNode(const NodeDef& def) {
  const int i = graph_.num_nodes() - first_node_;
  const OpDef* op = graph_.FindOp(def.op());
  if (op == nullptr && spelling_ == Spelling::kFunction) {
    throw NotFound("op type '{}' is not registered", def.op());
  }
  Node* node =
      graph_.NewNode(prefix_ + def.name(), op != nullptr ? op : graph_.UnknownOp(def.op()));
  if (!index_.emplace(def.name(), i).second) {
    throw InvalidArgument("the name '{}' is in use already", def.name());
  }
  node->device_ = def.device();
  bool undecoded = false;
  try {
    ImportAttrs(def, node, &undecoded);
    if (undecoded) {
      MakeUnrunnable(node, "undecoded", "it holds a tensor of a type that is not supported");
    }
    if (undecoded && def.op() == "Const") TypeDeferredConstant(def, node);
    // Its Merge is finished before it: all that can be told by then is the type.
    if (IsNextIteration(*node)) node->attr<DType>("T");
  } catch (const Error& e) {
    MarkMalformed(node, e);
  }
  has_unknown_ = has_unknown_ || node->op().unknown();
  if (IsNextIteration(*node) && !node->op().unknown()) {
    const DType type = node->attr<DType>("T");
    node->outputs_.resize(1);
    node->outputs_[0].dtype = node->type() == "NextIteration" ? type : MakeRef(type);
  }
  const auto& unknown = def.GetReflection()->GetUnknownFields(def);
  if (def.has_experimental_debug_info() || def.has_experimental_type() || !unknown.empty() ||
      node->attrs_.size() < static_cast<size_t>(def.attr_size())) {
    auto extra = std::make_shared<NodeDef>();
    if (def.has_experimental_debug_info()) {
      *extra->mutable_experimental_debug_info() = def.experimental_debug_info();
    }
    if (def.has_experimental_type()) *extra->mutable_experimental_type() = def.experimental_type();
    extra->GetReflection()->MutableUnknownFields(extra.get())->MergeFrom(unknown);
    for (const auto& [name, value] : def.attr()) {
      if (!FindAttr(node->attrs_, name)) (*extra->mutable_attr())[name] = value;  // malformed
    }
    node->extra_ = std::move(extra);
  }
}

// The node stays, so that the rest of the graph can run; the error comes when it is asked for.
// Functions are made when they are asked for.
void GraphDefImporter::MarkMalformed(Node* node, const Error& error) {
  if (spelling_ == Spelling::kFunction) throw error;
  MakeUnrunnable(node, "malformed", error.message());
  for (auto& output : node->outputs_) output.shape = PartialShape();
}

void GraphDefImporter::MakeUnrunnable(Node* node, const char* kind, const std::string& reason) {
  auto& op = graph_.local_ops_[fmt::format("{} {}", node->type(), node->name())];
  op = std::make_unique<OpDef>(
      OpDef::Unknown(fmt::format("{} ({})", node->type(), kind)).Doc(reason));
  node->op_ = op.get();
  has_unknown_ = true;
}

// A constant that is decoded by the runs that need it can be fetched before.
void GraphDefImporter::TypeDeferredConstant(const NodeDef& def, Node* node) {
  const auto value = def.attr().find("value");
  const Attr* dtype = node->FindAttr("dtype");
  if (value == def.attr().end() || dtype == nullptr || !dtype->Is<DType>()) return;
  if (DTypeSize(dtype->Get<DType>()) == 0) return;
  node->outputs_.resize(1);
  node->outputs_[0].dtype = dtype->Get<DType>();
  node->outputs_[0].shape = ShapeFromProto(value->second.tensor().tensor_shape());
}

void GraphDefImporter::ImportAttrs(const NodeDef& def, Node* node, bool* undecoded) {
  AttrMap& attrs = node->attrs_;
  attrs.reserve(def.attr_size());
  std::optional<Error> malformed;
  for (const auto& [name, value] : def.attr()) {
    try {
      // What would take too much together is decoded by the runs that need it.
      const size_t left = Attr::kMaxExpansion - std::min(Attr::kMaxExpansion, expansion_);
      Attr attr = Substitute(Attr::FromProto(value, std::min(Attr::kTensorExpansion, left)));
      if (value.has_tensor() || value.has_list()) CountExpansion(attr, value.ByteSizeLong());
      *undecoded = *undecoded || attr.undecoded();
      attrs.emplace_back(name, std::move(attr));
    } catch (const Error& e) {
      if (!malformed) malformed = e.WithPrefix(fmt::format("attribute '{}': ", name));
    }
  }
  // A protobuf map has no order of its own.
  std::sort(attrs.begin(), attrs.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  if (malformed) throw *malformed;
  if (prefix_.empty()) return;
  const Attr* colocated = FindAttr(attrs, "_class");
  if (colocated == nullptr || !colocated->Is<std::vector<std::string>>()) return;
  auto classes = colocated->Get<std::vector<std::string>>();
  for (std::string& name : classes) {
    if (name.starts_with("loc:@")) name.insert(5, prefix_);
  }
  SetAttr(attrs, "_class", std::move(classes));
}

Attr GraphDefImporter::Substitute(Attr attr) const {
  if (spelling_ != Spelling::kFunction) return attr;
  if (attr.Is<AttrPlaceholder>()) {
    const std::string& name = attr.Get<AttrPlaceholder>().name;
    const Attr* value = substitutes_ ? FindAttr(*substitutes_, name) : nullptr;
    if (value == nullptr) throw InvalidArgument("the function was not given '{}'", name);
    return *value;
  }
  const auto substitute = [&](FuncAttr func) {
    if (func.attrs == nullptr) return func;
    auto attrs = std::make_shared<AttrMap>(*func.attrs);
    for (auto& [name, value] : *attrs) value = Substitute(std::move(value));
    func.attrs = std::move(attrs);
    return func;
  };
  if (attr.Is<FuncAttr>()) return substitute(attr.Get<FuncAttr>());
  if (attr.Is<std::vector<FuncAttr>>()) {
    auto funcs = attr.Get<std::vector<FuncAttr>>();
    for (FuncAttr& func : funcs) func = substitute(std::move(func));
    return funcs;
  }
  return attr;
}

void GraphDefImporter::CountExpansion(const Attr& attr, size_t encoded_bytes) {
  size_t bytes = 0;
  if (const auto* tensor = std::get_if<Tensor>(&attr.value())) bytes = tensor->bytes();
  if (const auto* list = std::get_if<std::vector<Tensor>>(&attr.value())) {
    for (const Tensor& tensor : *list) bytes += tensor.bytes();
  }
  if (bytes > encoded_bytes) expansion_ += bytes - encoded_bytes;
}

GraphDefImporter::Ref GraphDefImporter::ParseRef(std::string_view text) const {
  Ref ref{.node = 0, .control = text.starts_with('^'), .selector = {}};
  std::string_view name = ref.control ? text.substr(1) : text;
  if (!ref.control) {
    const size_t colon = name.find(':');
    if (colon != name.npos) {
      ref.selector = name.substr(colon + 1);
      if (ref.selector.empty()) throw InvalidArgument("'{}' is not a valid input", text);
      name = name.substr(0, colon);
    }
  }
  const auto found = index_.find(name);
  if (found == index_.end()) throw InvalidArgument("input '{}' does not exist", text);
  ref.node = found->second;
  if (spelling_ == Spelling::kGraph && !ref.selector.empty() && ParseIndex(ref.selector) < 0) {
    throw InvalidArgument("'{}' is not a valid input", text);
  }
  return ref;
}

void GraphDefImporter::ParseRefs(const NodeDefs& defs) {
  first_ref_.reserve(defs.size() + 1);
  refs_.reserve(2 * defs.size());
  for (const NodeDef& def : defs) {
    first_ref_.push_back(refs_.size());
    bool control = false;
    try {
      for (const std::string& input : def.input()) {
        const Ref ref = ParseRef(input);
        if (control && !ref.control) {
          throw InvalidArgument("data input '{}' follows a control input", input);
        }
        control = ref.control;
        if (has_unknown_) ReserveUnknownOutput(ref);
        refs_.push_back(ref);
      }
    } catch (const Error& e) {
      throw NodeError(def, e);
    }
  }
  first_ref_.push_back(refs_.size());
}

void GraphDefImporter::ReserveUnknownOutput(const Ref& ref) const {
  if (ref.node < 0 || ref.control || !node(ref.node)->op().unknown()) return;
  const int output = ref.selector.empty() ? 0 : ParseIndex(ref.selector);
  Node* producer = node(ref.node);
  if (output >= kMaxUnknownOutputs) {
    throw InvalidArgument("input '{}:{}' is out of range", producer->name(), output);
  }
  if (output >= producer->num_outputs()) producer->outputs_.resize(output + 1);
}

bool GraphDefImporter::IsBackEdge(const Ref& ref, int consumer) const {
  return !ref.control && IsNextIteration(*node(ref.node)) && IsMerge(*node(consumer));
}

void GraphDefImporter::Append(const Ref& ref, std::vector<Output>* outputs) const {
  if (ref.node < 0) {
    const std::vector<Output>& values = arguments_[~ref.node];
    if (ref.selector.empty()) {
      outputs->insert(outputs->end(), values.begin(), values.end());
      return;
    }
    const int i = ParseIndex(ref.selector);
    if (i < 0 || i >= static_cast<int>(values.size())) {
      throw InvalidArgument("an argument has no element '{}'", ref.selector);
    }
    outputs->push_back(values[i]);
    return;
  }
  Node* producer = node(ref.node);
  ReserveUnknownOutput(ref);
  if (spelling_ == Spelling::kGraph) {
    const int i = ref.selector.empty() ? 0 : ParseIndex(ref.selector);
    if (i >= producer->num_outputs()) {
      throw InvalidArgument("input '{}:{}' does not exist: node has {} outputs", producer->name(),
                            i, producer->num_outputs());
    }
    outputs->push_back(producer->output(i));
    return;
  }
  const size_t colon = ref.selector.find(':');
  ArgRange range = OutputRange(*producer, ref.selector.substr(0, colon));
  if (colon != ref.selector.npos) {
    const int i = ParseIndex(ref.selector.substr(colon + 1));
    if (i < 0 || i >= range.count) {
      throw InvalidArgument("input '{}:{}' does not exist", producer->name(), ref.selector);
    }
    range = {range.begin + i, 1};
  }
  for (int i = 0; i < range.count; ++i) outputs->push_back(producer->output(range.begin + i));
}

void GraphDefImporter::FinishNode(int i) {
  Node* node = this->node(i);
  node->inputs_.reserve(first_ref_[i + 1] - first_ref_[i]);
  for (size_t r = first_ref_[i]; r < first_ref_[i + 1]; ++r) {
    const Ref& ref = refs_[r];
    if (!ref.control) {
      Append(ref, &node->inputs_);
    } else if (ref.node >= 0) {
      node->control_inputs_.push_back(this->node(ref.node));
    }
  }
  bool typed = false;
  try {
    graph_.CheckAttrs(*node);
    graph_.ResolveTypes(node);
    typed = true;
    graph_.InferShapes(node);
  } catch (const Error& e) {
    if (!typed) node->outputs_.clear();
    MarkMalformed(node, e);
  }
}

// The outputs of unknown ops are of the types that their consumers want.
void GraphDefImporter::TypeUnknownOutputs() {
  for (size_t i = first_node_; i < graph_.nodes_.size(); ++i) {
    const Node& consumer = *graph_.nodes_[i];
    if (consumer.op().unknown()) continue;
    std::vector<DType> types;
    for (int k = 0; k < consumer.num_inputs(); ++k) {
      Node* producer = consumer.input(k).node();
      if (!producer->op().unknown()) continue;
      if (types.empty()) types = InputTypes(consumer);
      producer->outputs_[consumer.input(k).index()].dtype = types[k];
    }
  }
}

std::vector<Output> GraphDefImporter::Resolve(std::string_view reference) const {
  std::vector<Output> outputs;
  Append(ParseRef(reference), &outputs);
  return outputs;
}

Node* GraphDefImporter::FindNode(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() || found->second < 0 ? nullptr : node(found->second);
}

}  // namespace sextant
