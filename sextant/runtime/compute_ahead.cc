#include "sextant/runtime/compute_ahead.h"

#include "sextant/device/resource_manager.h"

namespace sextant {

std::vector<Tensor> ComputeAhead(const Node& node, const KernelDef& def, std::vector<Tensor> inputs,
                                 Allocator* allocator) {
  StepIo io;
  io.node_name = node.name();
  const int num_inputs = node.num_inputs();
  for (int i = 0; i < num_inputs; ++i) io.inputs.push_back(i);
  io.last_use.assign(num_inputs, 0);
  for (int i = 0; i < node.num_outputs(); ++i) {
    io.outputs.push_back(num_inputs + i);
    io.output_types.push_back(node.output_type(i));
    io.in_place.push_back(-1);
    io.prepared.push_back(0);
    io.alias.push_back(-1);
  }
  std::vector<Tensor> slots = std::move(inputs);
  slots.resize(num_inputs + node.num_outputs());
  ResourceManager resources;
  CancellationToken cancellation;
  const RunEnvironment run{
      .allocator = allocator, .resources = &resources, .cancellation = &cancellation};
  KernelContext context(slots.data(), run);
  context.set_step(&io);
  def.Create(node)->Compute(context);
  context.CheckOutputs();
  slots.erase(slots.begin(), slots.begin() + num_inputs);
  return slots;
}

}  // namespace sextant
