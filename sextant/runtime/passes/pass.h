// Graph passes of the Plan builder: each rewrites the Plan's private graph, can be switched off,
// and leaves the value of every tensor that has a consumer outside what it rewrites. Fetched
// tensors have one: the "_Sink" node of the graph. Passes run after placement, shape inference and
// constant folding; nodes they leave without consumers are removed.
#pragma once

#include <string_view>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/graph.h"

#pragma GCC visibility push(default)

namespace sextant {

class Device;

// Whether small steps that do not need each other run at the same time, each on one thread.
enum class ParallelSteps { kNever, kWhenFaster, kAlways };

// Which optimisations run. All of them keep results; tests and benchmarks switch them off.
struct SEXTANT_API OptimizerOptions {
  bool fold_constants = true;
  bool merge_common = true;  // common subexpressions
  bool fuse_updates = true;  // optimizer steps
  bool block_images = true;  // images in oneDNN's layout
  bool fuse_images = true;
  bool winograd = true;       // 3x3 convolutions with fewer multiplications and more rounding
  bool fuse_products = true;  // sums of matrix products
  bool fuse_elementwise = true;
  bool static_memory = true;  // one arena planned by liveness
  ParallelSteps parallel_steps = ParallelSteps::kWhenFaster;
};

struct SEXTANT_API Pass {
  std::string_view name;            // in the trace
  bool OptimizerOptions::*enabled;  // the option that switches it
  // Rewrites the Plan's graph. "device": where nodes without a device of their own run.
  void (*run)(Graph& graph, const Device& device);
};

// In the order they run.
const std::vector<Pass>& OptimizationPasses();

// Equal nodes without effects become one; reshapes and reductions that change nothing are bypassed.
void MergeCommonSubexpressions(Graph& graph, const Device& device);
// Steps of one optimizer that share their scalars, and that nothing orders, become one "_ApplyMany"
// node; a gradient to which a multiple of its variable is added gives that addition to the node.
void FuseUpdates(Graph& graph, const Device& device);
// Pads around images become padding of the convolutions that read them.
void FoldPadding(Graph& graph, const Device& device);
// Convolutions and what lies between them work on images in the blocked layout (image_layouts.h).
void BlockImages(Graph& graph, const Device& device);
// Lets blocked convolutions of suitable sizes use Winograd's algorithm.
void AllowWinograd(Graph& graph, const Device& device);
// Bias, normalization, addition and Relu join the blocked convolution or normalization before them.
void FuseImages(Graph& graph, const Device& device);
// Sums of matrix products of equal sizes become one "_ProductSum" node each.
void FuseProducts(Graph& graph, const Device& device);
// Chains and trees of element-wise ops over equal shapes become one "_Elementwise" node each.
void FuseElementwise(Graph& graph, const Device& device);

}  // namespace sextant

#pragma GCC visibility pop
