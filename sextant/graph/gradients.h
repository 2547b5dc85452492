// Gradients: reverse-mode differentiation by adding nodes to the graph.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// A gradient of which only some rows are not zero: values[k] belongs to row indices[k]; indices may
// repeat (their values add up). dense_shape is the shape of the whole, as an integer vector.
struct SEXTANT_API IndexedSlices {
  Output values;       // rows of the gradient
  Output indices;      // which rows
  Output dense_shape;  // of the whole gradient
};

// The gradient with respect to one tensor: none (it does not matter), dense, or sparse.
class SEXTANT_API Gradient {
 public:
  Gradient() = default;
  Gradient(Output dense) : dense_(dense) {}                       // NOLINT
  Gradient(IndexedSlices slices) : slices_(std::move(slices)) {}  // NOLINT

  bool none() const { return !dense_ && !slices_; }
  bool sparse() const { return slices_.has_value(); }
  const IndexedSlices& slices() const { return *slices_; }
  // As a dense tensor; slices are added up by nodes made in the current graph.
  // Throws INVALID_ARGUMENT on none().
  Output dense() const;
  operator Output() const { return dense(); }  // NOLINT

 private:
  Output dense_;
  std::optional<IndexedSlices> slices_;
};

struct SEXTANT_API GradientOptions {
  std::vector<Output> grad_ys;         // one per y, or empty: ones. A default Output means ones.
  std::vector<Output> stop_gradients;  // taken for constants
  std::string name = "gradients";      // name scope of the new nodes
};

// d(sum of ys)/dx for each x. xs that no y depends on get none(). Variables may be given by their
// handle (VarHandleOp) or by the value read from it. The ys' graph must be the current one, or none
// is current. Throws INVALID_ARGUMENT where the path meets an op whose gradient is forbidden,
// UNIMPLEMENTED where it has none.
//
// Adds nodes, and rewrites nodes of the graph in two cases, also when it throws later on:
//   - if the graph has a v1 loop (Enter … Exit), on the path or not, all of them become While nodes
//     (passes/structure_loops.h). Exits keep their names and values; Outputs of nodes inside of the
//     loops are invalid afterwards;
//   - If, Case and While nodes and calls between ys and xs get further outputs, for what the
//     backward pass needs, and new functions that compute these. Their names, ids and outputs so
//     far stay; a node whose op is a function becomes a PartitionedCall.
// What the graph computes stays the same. Graph::version() changes, so sessions plan anew; no Run
// of the graph may be under way.
std::vector<Gradient> Gradients(const std::vector<Output>& ys, const std::vector<Output>& xs,
                                const GradientOptions& options = {});
inline std::vector<Gradient> Gradients(Output y, const std::vector<Output>& xs,
                                       const GradientOptions& options = {}) {
  return Gradients(std::vector<Output>{y}, xs, options);
}

// A name for the gradient being built, equal for all nodes that one call of Gradients makes, in
// bodies too: tells apart the gradient arrays of one TensorArray. "gradients" outside such a call.
const std::string& GradientSource();

// One op being differentiated: given the gradients of its outputs, a GradientFunction sets those of
// its inputs. What it does not set is none.
class SEXTANT_API GradientContext {
 public:
  GradientContext(Node* node, std::vector<Gradient> output_gradients);

  Node* node() const { return node_; }
  Output input(int i) const { return node_->input(i); }
  Output output(int i) const { return node_->output(i); }
  int num_inputs() const { return node_->num_inputs(); }
  int num_outputs() const { return node_->num_outputs(); }
  template <typename T>  // of the forward node
  const T& attr(std::string_view name) const {
    return node_->attr<T>(name);
  }

  bool has_gradient(int i) const { return !output_gradients_[i].none(); }
  // Gradient of output i as a dense tensor; zeros when there is none.
  Output grad(int i = 0);
  const Gradient& gradient(int i) const { return output_gradients_[i]; }

  // Whether the gradient of input i is used: expensive ones can then be left out.
  bool wanted(int i) const { return wanted_.empty() || wanted_[i]; }
  void set_wanted(std::vector<bool> wanted) { wanted_ = std::move(wanted); }

  void set(int i, Output gradient) { input_gradients_[i] = gradient; }
  void set(int i, IndexedSlices slices) { input_gradients_[i] = slices; }
  void set(int i, Gradient gradient) { input_gradients_[i] = gradient; }
  std::vector<Gradient>& input_gradients() { return input_gradients_; }

 private:
  Node* node_;
  std::vector<Gradient> output_gradients_, input_gradients_;
  std::vector<bool> wanted_;
};

}  // namespace sextant

#pragma GCC visibility pop
