#include "sextant/runtime/deferred_constants.h"

#include "sextant/base/error.h"
#include "sextant/graph/unknown_op.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/tensor/tensor_proto.h"

namespace sextant {
namespace {

Tensor Decode(const Node& node, const Attr& attr, Allocator& allocator, size_t memory) {
  proto::AttrValue value;
  attr.ToProto(&value);
  const proto::TensorProto& proto = value.tensor();
  const PartialShape shape = ShapeFromProto(proto.tensor_shape());
  const size_t size = DTypeSize(static_cast<DType>(proto.dtype()));
  if (size == 0 || !shape.fully_known()) throw UnknownOpError(node);
  if (static_cast<size_t>(shape.num_elements()) > memory / size) {
    throw ResourceExhausted("[Const {}] {} elements do not fit in {} bytes", node.name(),
                            shape.num_elements(), memory);
  }
  try {
    return TensorFromProto(proto, memory, allocator);
  } catch (const Error& e) {
    throw e.WithPrefix(fmt::format("[Const {}] ", node.name()));
  } catch (const std::bad_alloc&) {
    throw ResourceExhausted("[Const {}] out of memory", node.name());
  }
}

}  // namespace

void DecodeDeferredConstants(Graph& graph, Allocator& allocator, int64_t memory) {
  for (int id = 0; id < graph.num_nodes(); ++id) {
    Node* node = graph.node(id);
    if (!node->op().unknown() || ImportedType(*node) != "Const") continue;
    const Attr* value = node->FindAttr("value");
    const Attr* dtype = node->FindAttr("dtype");
    if (value == nullptr || dtype == nullptr || !value->undecoded() || !value->Is<Tensor>() ||
        !dtype->Is<DType>()) {
      continue;
    }
    NodeSpec spec;
    spec.op = graph.FindOp("Const");
    spec.control_inputs.assign(node->control_inputs().begin(), node->control_inputs().end());
    spec.attrs = {{"value", Decode(*node, *value, allocator, static_cast<size_t>(memory))},
                  {"dtype", dtype->Get<DType>()}};
    graph.Replace(node, std::move(spec));
  }
}

}  // namespace sextant
