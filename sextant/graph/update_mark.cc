#include "sextant/graph/update_mark.h"

#include <algorithm>

namespace sextant {
namespace {

constexpr char kMarkAttr[] = "_update";
constexpr int64_t kUpdateValue = 1, kCountValue = 2;

}  // namespace

UpdateMark GetUpdateMark(const Node& node) {
  const Attr* attr = node.FindAttr(kMarkAttr);
  if (attr == nullptr || !attr->Is<int64_t>()) return UpdateMark::kNone;
  if (attr->Get<int64_t>() == kUpdateValue) return UpdateMark::kUpdate;
  return attr->Get<int64_t>() == kCountValue ? UpdateMark::kCount : UpdateMark::kNone;
}

void SetUpdateMark(Graph& graph, Node* node, UpdateMark mark) {
  graph.SetNodeAttr(node, kMarkAttr, mark == UpdateMark::kCount ? kCountValue : kUpdateValue);
}

void MarkUpdatesSince(Graph& graph, int first) {
  for (int id = first; id < graph.num_nodes(); ++id) {
    Node* node = graph.node(id);
    const bool takes_handle = std::ranges::any_of(
        node->inputs(), [](const Output& input) { return input.dtype() == DType::kResource; });
    if (takes_handle && GetUpdateMark(*node) == UpdateMark::kNone)
      SetUpdateMark(graph, node, UpdateMark::kUpdate);
  }
}

}  // namespace sextant
