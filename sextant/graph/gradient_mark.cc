#include "sextant/graph/gradient_mark.h"

#include "sextant/base/error.h"
#include "sextant/graph/op_builder.h"

namespace sextant {
namespace {

constexpr char kKindAttr[] = "_aggregate", kReplicasAttr[] = "_replicas_to_aggregate",
               kTotalAttr[] = "_total_num_replicas", kDeterministicAttr[] = "_deterministic";

int64_t MarkNumber(const Node& node, const char* name) {
  const Attr* attr = node.FindAttr(name);
  if (attr == nullptr || !attr->Is<int64_t>() || attr->Get<int64_t>() < 0 ||
      attr->Get<int64_t>() > INT32_MAX)
    throw InvalidArgument("[{} {}] has no sensible attribute {}", node.type(), node.name(), name);
  return attr->Get<int64_t>();
}

}  // namespace

Output MarkGradient(Output gradient, const GradientMark& mark) {
  return OpBuilder("Identity")
      .Input(gradient)
      .Attr(kKindAttr, static_cast<int64_t>(mark.kind))
      .Attr(kReplicasAttr, int64_t{mark.replicas_to_aggregate})
      .Attr(kTotalAttr, int64_t{mark.total_num_replicas})
      .Attr(kDeterministicAttr, int64_t{mark.deterministic})
      .Name("aggregate")
      .Build();
}

bool IsGradientMark(const Node& node) {
  return node.type() == "Identity" && node.FindAttr(kKindAttr) != nullptr;
}

GradientMark GetGradientMark(const Node& node) {
  const int64_t kind = MarkNumber(node, kKindAttr);
  GradientMark mark{.kind = static_cast<GradientMark::Kind>(kind),
                    .replicas_to_aggregate = static_cast<int>(MarkNumber(node, kReplicasAttr)),
                    .total_num_replicas = static_cast<int>(MarkNumber(node, kTotalAttr)),
                    .deterministic = MarkNumber(node, kDeterministicAttr) != 0};
  if (kind > static_cast<int64_t>(GradientMark::Kind::kIndices) || mark.replicas_to_aggregate < 1)
    throw InvalidArgument("[{} {}] is a malformed mark of a gradient", node.type(), node.name());
  return mark;
}

std::optional<GradientMark> FindGradientMark(const Graph& graph) {
  for (int id = 0; id < graph.num_nodes(); ++id) {
    if (IsGradientMark(*graph.node(id))) return GetGradientMark(*graph.node(id));
  }
  return std::nullopt;
}

}  // namespace sextant
