#include "sextant/runtime/placer.h"

#include <unordered_map>

#include "sextant/base/logging.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/device/rendezvous.h"

namespace sextant {
namespace {

std::string DeviceList(const std::vector<Device*>& devices) {
  std::string list;
  for (const Device* device : devices) list += (list.empty() ? "" : ", ") + device->name();
  return list;
}

bool CanRun(const Node& node, const Device& device) {
  return node.op().structural() || node.type().starts_with('_') || node.op().unknown() ||
         KernelRegistry::Global().Find(node, device.type());
}

// The node whose device this one must share: its resource's, or the one "_class" names.
const Node* Companion(const Graph& graph, const Node& node) {
  for (const Output& input : node.inputs()) {
    if (input.dtype() == DType::kResource || IsRef(input.dtype())) return input.node();
  }
  if (const Attr* attr = node.FindAttr("_class"); attr && attr->Is<std::vector<std::string>>()) {
    for (const std::string& location : attr->Get<std::vector<std::string>>()) {
      if (location.starts_with("loc:@"))
        return graph.FindNode(std::string_view(location).substr(5));
    }
  }
  return nullptr;
}

class Placer {
 public:
  Placer(Graph& graph, const std::vector<Device*>& devices, bool soft)
      : graph_(graph), devices_(devices), soft_(soft), chosen_(graph.num_nodes()) {}

  const Device* Choose(const Node& node, int depth = 0) {
    const Device*& chosen = chosen_[node.id()];
    if (chosen) return chosen;
    if (!node.device().empty()) return chosen = Requested(node);
    const Node* companion = depth < 100 ? Companion(graph_, node) : nullptr;
    const Device* device = companion ? Choose(*companion, depth + 1) : devices_[0];
    return chosen = CanRun(node, *device) ? device : devices_[0];
  }

 private:
  const Device* Requested(const Node& node) {
    const auto [it, added] = requested_.try_emplace(node.device());
    if (added) {
      DeviceName wanted;
      try {
        wanted = DeviceName::Parse(node.device());
      } catch (const Error& e) {
        throw e.WithPrefix(fmt::format("[{} {}] ", node.type(), node.name()));
      }
      for (const Device* device : devices_) {
        if (device->parsed_name().Matches(wanted)) it->second.push_back(device);
      }
    }
    for (const Device* device : it->second) {
      if (CanRun(node, *device)) return device;
    }
    if (soft_) return devices_[0];
    throw InvalidArgument(
        "[{} {}] cannot be placed on '{}': {}; the devices are {}", node.type(), node.name(),
        node.device(), it->second.empty() ? "there is no such device" : "it has no kernel for it",
        DeviceList(devices_));
  }

  Graph& graph_;
  const std::vector<Device*>& devices_;
  const bool soft_;
  std::vector<const Device*> chosen_;
  std::unordered_map<std::string, std::vector<const Device*>> requested_;
};

// Internal ops of the runtime; never exported, so not in the registry.
const OpDef& SendOp() {
  static const OpDef* def = [] {
    auto* d = new OpDef("_Send");
    d->Inputs("tensor:T").Attrs("T:type; key:string").Stateful().Structural();
    return d;
  }();
  return *def;
}
const OpDef& ReceiveOp() {
  static const OpDef* def = [] {
    auto* d = new OpDef("_Recv");
    d->Outputs("tensor:T").Attrs("T:type; key:string").Stateful().Structural();
    return d;
  }();
  return *def;
}

}  // namespace

void PlaceNodes(Graph& graph, const std::vector<Device*>& devices, bool soft_placement, bool log) {
  Placer placer(graph, devices, soft_placement);
  for (int id = 0; id < graph.num_nodes(); ++id) {
    Node* node = graph.node(id);
    const Device* device = placer.Choose(*node);
    if (log && !node->name().starts_with('_'))
      LogInfo("{}: ({}): {}", node->name(), node->type(), device->name());
    graph.SetDevice(node, device == devices[0] ? "" : device->name());
  }
}

void PartitionByDevice(Graph& graph) {
  std::unordered_map<std::string, Output> received;  // key → output of the _Recv
  const int count = graph.num_nodes();
  for (int id = 0; id < count; ++id) {
    Node* node = graph.node(id);
    for (int i = 0; i < node->num_inputs(); ++i) {
      const Output input = node->input(i);
      const Node& source = *input.node();
      // Handles name things that stay where they are.
      if (source.device() == node->device() || input.dtype() == DType::kResource) continue;
      const std::string key = RendezvousKey(source.device(), node->device(), input.name());
      Output& output = received[key];
      if (!output) {
        const AttrMap attrs = {{"T", input.dtype()}, {"key", key}};
        Node* send = graph.AddNode({.name = graph.UniqueName(source.name() + "/_send"),
                                    .op = &SendOp(),
                                    .inputs = {input},
                                    .attrs = attrs,
                                    .device = source.device()});
        Node* receive = graph.AddNode({.name = graph.UniqueName(source.name() + "/_recv"),
                                       .op = &ReceiveOp(),
                                       .control_inputs = {send},
                                       .attrs = attrs,
                                       .device = node->device()});
        receive->set_output_shape(0, input.shape());
        output = receive->output(0);
      }
      graph.SetInput(node, i, output);
    }
  }
}

}  // namespace sextant
