#include <google/protobuf/text_format.h>

#include "sextant/graph/graph_def_exporter.h"
#include "sextant/graph/unknown_op.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/tensor/tensor_proto.h"

namespace sextant {

namespace {

void StrippedConstant(const Tensor& value, proto::TensorProto* stripped) {
  Tensor empty(value.dtype(), Shape{0});
  TensorToProto(empty, stripped);
  ShapeToProto(value.shape(), stripped->mutable_tensor_shape());
  stripped->set_tensor_content(fmt::format("<stripped {} bytes>", value.bytes()));
}

}  // namespace

bool GraphDefExporter::Strips(const Node& node, std::string_view name, const Attr& value) const {
  return options_.max_constant_bytes >= 0 && name == "value" && node.type() == "Const" &&
         value.Is<Tensor>() &&
         static_cast<int64_t>(value.Get<Tensor>().bytes()) > options_.max_constant_bytes;
}

void GraphDefExporter::NodeToDef(const Node& node, proto::NodeDef* def) const {
  if (node.extra_ != nullptr) *def = *node.extra_;
  def->set_name(node.name());
  def->set_op(std::string(ImportedType(node)));
  def->set_device(node.device());
  for (const auto& [name, value] : node.attrs()) {
    if (options_.strip_default_attrs) {
      const AttrDef* attr = node.op().FindAttr(name);
      if (attr != nullptr && attr->default_value && *attr->default_value == value) continue;
    }
    if (Strips(node, name, value)) {
      StrippedConstant(value.Get<Tensor>(), (*def->mutable_attr())[name].mutable_tensor());
      continue;
    }
    try {
      value.ToProto(&(*def->mutable_attr())[name]);
    } catch (const Error& e) {
      throw e.WithPrefix(fmt::format("[{} {}] attribute '{}': ", node.type(), node.name(), name));
    }
  }
  if (options_.output_shapes && node.num_outputs() > 0) {
    std::vector<PartialShape> shapes;
    for (int i = 0; i < node.num_outputs(); ++i) shapes.push_back(node.output_shape(i));
    Attr(std::move(shapes)).ToProto(&(*def->mutable_attr())["_output_shapes"]);
  }
}

proto::GraphDef GraphDefExporter::GraphToDef(const Graph& graph) const {
  proto::GraphDef def;
  if (graph.extra_ != nullptr) def = *graph.extra_;
  def.mutable_node()->Reserve(graph.num_nodes());
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node& node = *graph.node(i);
    proto::NodeDef* out = def.add_node();
    NodeToDef(node, out);
    for (const Output& input : node.inputs()) {
      out->add_input(input.index() == 0 ? input.node()->name() : input.name());
    }
    for (const Node* input : node.control_inputs()) out->add_input("^" + input->name());
  }
  for (const auto& function : graph.functions().all()) {
    *def.mutable_library()->add_function() = function->def();
  }
  for (const auto& [function, gradient] : graph.functions().gradients()) {
    proto::GradientDef* out = def.mutable_library()->add_gradient();
    out->set_function_name(function);
    out->set_gradient_func(gradient);
  }
  if (graph.producer != 0 || graph.min_consumer != 0 || !graph.bad_consumers.empty()) {
    proto::VersionDef* versions = def.mutable_versions();
    versions->set_producer(graph.producer);
    versions->set_min_consumer(graph.min_consumer);
    for (const int version : graph.bad_consumers) versions->add_bad_consumers(version);
  }
  return def;
}

proto::GraphDef ExportGraphDef(const Graph& graph, const ExportOptions& options) {
  return GraphDefExporter(options).GraphToDef(graph);
}

std::string ExportGraphDefText(const Graph& graph, const ExportOptions& options) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(ExportGraphDef(graph, options), &text);
  return text;
}

}  // namespace sextant
