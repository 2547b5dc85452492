#include "sextant/runtime/placer.h"

#include <unordered_map>

#include "sextant/base/logging.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/device/remote_task.h"
#include "sextant/device/rendezvous.h"
#include "sextant/graph/function_node.h"
#include "sextant/runtime/fragment_groups.h"

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

// The node that makes the resource which this one works on.
const Node* MakerOfResource(const Node& node) {
  if (IsBranchOrLoop(node)) return nullptr;
  for (const Output& input : node.inputs()) {
    if (input.dtype() == DType::kResource || IsRef(input.dtype())) return input.node();
  }
  return nullptr;
}

// The node that "_class" names.
const Node* Colocated(const Graph& graph, const Node& node) {
  if (const Attr* attr = node.FindAttr("_class"); attr && attr->Is<std::vector<std::string>>()) {
    for (const std::string& location : attr->Get<std::vector<std::string>>()) {
      if (location.starts_with("loc:@"))
        return graph.FindNode(std::string_view(location).substr(5));
    }
  }
  return nullptr;
}

// Rows of a variable, and what looks at no more than the shape of a tensor, are found where that
// is: the tensor they read; else null.
const Node* MakerOfLarger(const Node& node) {
  const std::string& type = node.type();
  if (type == "Shape" || type == "Size" || type == "Rank") return node.input(0).node();
  if (type != "GatherV2" && type != "Gather" && type != "GatherNd") return nullptr;
  const Node* read = node.input(0).node();
  while (read->type() == "Identity") read = read->input(0).node();
  return read->type() == "ReadVariableOp" ? read : nullptr;
}

DeviceName TaskPart(DeviceName name) {
  name.type.clear();
  name.index.reset();
  return name;
}

class Placer {
 public:
  Placer(Graph& graph, const PlanEnvironment& environment, bool in_function)
      : graph_(graph),
        devices_(environment.devices),
        soft_(environment.soft_placement),
        in_function_(in_function),
        chosen_(graph.num_nodes()) {
    if (in_function) return;
    tasks_ = environment.tasks;
    clustered_ = tasks_ != nullptr;
    devices_.insert(devices_.end(), environment.remote_devices.begin(),
                    environment.remote_devices.end());
  }

  const Device* Choose(const Node& node, int depth = 0) {
    const Device*& chosen = chosen_[node.id()];
    if (chosen) return chosen;
    // What a run is given and gives belongs to the task that runs it.
    if (node.type() == "_Feed" || node.type() == "_Sink") return chosen = devices_[0];
    if (clustered_ && depth < kMaxDepth) {
      if (const Node* larger = MakerOfLarger(node)) {
        const Device* home = Choose(*larger, depth + 1);
        if (!Own(*home)) return chosen_[node.id()] = InTaskOf(node, *home);
      }
    }
    const Node* companion = depth < kMaxDepth ? MakerOfResource(node) : nullptr;
    if (!node.device().empty()) {
      const Device* device = Requested(node);
      if (companion && clustered_)
        device = AtResource(node, *device, *Choose(*companion, depth + 1));
      return chosen = device;
    }
    if (!companion && depth < kMaxDepth) companion = Colocated(graph_, node);
    const Device* device = companion ? Choose(*companion, depth + 1) : devices_[0];
    return chosen_[node.id()] = InTaskOf(node, *device);
  }

  const Device* first() const { return devices_[0]; }

 private:
  static constexpr int kMaxDepth = 100;

  bool Own(const Device& device) const {
    return device.parsed_name().Matches(TaskPart(devices_[0]->parsed_name()));
  }

  // The device, or another of its task that has a kernel for the node.
  const Device* InTaskOf(const Node& node, const Device& device) const {
    if (CanRun(node, device)) return &device;
    const DeviceName task = TaskPart(device.parsed_name());
    for (const Device* other : devices_) {
      if (other->parsed_name().Matches(task) && CanRun(node, *other)) return other;
    }
    return &device;
  }

  const Device* AtResource(const Node& node, const Device& device, const Device& home) const {
    if (home.parsed_name().Matches(TaskPart(device.parsed_name()))) return &device;
    if (soft_) return InTaskOf(node, home);
    throw InvalidArgument(
        "[{} {}] cannot be placed on '{}': it works on a resource of '{}', which cannot leave its "
        "task",
        node.type(), node.name(), node.device(), home.name());
  }

  // Devices that a node's wish may mean: those it matches, and those of the task it names.
  struct Candidates {
    std::vector<const Device*> exact, same_task;
  };

  const Candidates& CandidatesFor(const Node& node) {
    const auto [it, added] = requested_.try_emplace(node.device());
    if (!added) return it->second;
    DeviceName wanted;
    try {
      wanted = DeviceName::Parse(node.device());
    } catch (const Error& e) {
      throw e.WithPrefix(fmt::format("[{} {}] ", node.type(), node.name()));
    }
    if (in_function_) {
      wanted.job.clear();
      wanted.replica.reset();
      wanted.task.reset();
    }
    it->second = Matching(wanted, devices_);
    const auto& [exact, same_task] = it->second;
    if (clustered_ && exact.empty() && same_task.size() == 1 && !Own(*same_task[0])) {
      const std::vector<Device*> all = tasks_->Devices(TaskOfDevice(same_task[0]->name()));
      for (Device* device : all) {
        if (device->name() != same_task[0]->name()) others_.push_back(device);
      }
      it->second = Matching(wanted, all);
    }
    return it->second;
  }

  static Candidates Matching(const DeviceName& wanted, const std::vector<Device*>& devices) {
    Candidates found;
    for (const Device* device : devices) {
      if (device->parsed_name().Matches(wanted)) found.exact.push_back(device);
      if (device->parsed_name().Matches(TaskPart(wanted))) found.same_task.push_back(device);
    }
    return found;
  }

  const Device* Requested(const Node& node) {
    const auto& [exact, same_task] = CandidatesFor(node);
    for (const Device* device : exact) {
      if (CanRun(node, *device)) return device;
    }
    if (soft_ && !clustered_) return devices_[0];
    for (const Device* device : same_task) {
      if (soft_ && CanRun(node, *device)) return device;
    }
    const char* why = clustered_ && same_task.empty() ? "there is no such task"
                      : exact.empty()                 ? "there is no such device"
                                                      : "it has no kernel for it";
    std::vector<Device*> known = devices_;
    known.insert(known.end(), others_.begin(), others_.end());
    throw InvalidArgument("[{} {}] cannot be placed on '{}': {}; the devices are {}", node.type(),
                          node.name(), node.device(), why, DeviceList(known));
  }

  Graph& graph_;
  std::vector<Device*> devices_;  // the session's own, then the first of each other task
  std::vector<Device*> others_;   // of tasks that have been asked
  const bool soft_, in_function_;
  RemoteTasks* tasks_ = nullptr;
  bool clustered_ = false;  // the session belongs to a cluster, if only of one task
  std::vector<const Device*> chosen_;
  std::unordered_map<std::string, Candidates> requested_;
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

void PlaceNodes(Graph& graph, const PlanEnvironment& environment, bool in_function) {
  Placer placer(graph, environment, in_function);
  for (int id = 0; id < graph.num_nodes(); ++id) {
    Node* node = graph.node(id);
    const Device* device = placer.Choose(*node);
    if (environment.log_placement && !node->name().starts_with('_'))
      LogInfo("{}: ({}): {}", node->name(), node->type(), device->name());
    graph.SetDevice(node, device == placer.first() ? "" : device->name());
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
