// SavedModel: a model exported by TensorFlow 1 or 2 or by this library, loaded and ready to run.
//
//   SavedModel model = SavedModel::Load("export/mnist/1700000000");
//   auto outputs = model.signature("serving_default").Run({{"image", image}});
//   const Tensor& classes = outputs.at("classes");
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/runtime/session.h"
#include "sextant/tensor/tensor.h"

#pragma GCC visibility push(default)

namespace sextant::proto {
class MetaGraphDef;
class SignatureDef;
}  // namespace sextant::proto

namespace sextant {

using NamedTensors = std::map<std::string, Tensor>;

// One tensor that a signature takes or gives.
struct SEXTANT_API SignatureTensor {
  std::string name;  // in the graph, "image:0"
  DType dtype = DType::kInvalid;
  PartialShape shape;         // -1: unknown
  bool optional = false;      // an input with a default
  Tensor default_value = {};  // then: what stands for the whole input when it is not given
};

// A function of the model, by named tensors. A sparse tensor "k" has the parts "k/indices",
// "k/values" and "k/dense_shape", another composite one "k/0", "k/1", … Thread-safe.
class SEXTANT_API Signature {
 public:
  ~Signature();
  Signature(Signature&&) noexcept;
  Signature& operator=(Signature&&) noexcept;

  const std::string& key() const { return key_; }
  const std::string& method_name() const { return method_name_; }
  const std::map<std::string, SignatureTensor>& inputs() const { return inputs_; }
  const std::map<std::string, SignatureTensor>& outputs() const { return outputs_; }

  // All outputs. Throws INVALID_ARGUMENT on an input that is missing, unknown (the message names
  // the valid ones), or of a dtype or shape that does not fit.
  NamedTensors Run(const NamedTensors& inputs, const RunOptions& options = {}) const;

  // The same in the order of inputs() and outputs(), for callers that know it: nothing is looked up
  // by name. An input without a value takes its default. "wanted" are the outputs to compute, by
  // their places in outputs(), and all that runs is what these need; none: all outputs. REQUIRES:
  // outputs.size() is the number of outputs computed.
  void Call(std::span<const Tensor> inputs, std::span<const int> wanted, std::span<Tensor> outputs,
            const RunOptions& options = {}) const;

  // Makes the Plan for inputs of "rows" rows, and runs it on made-up values until what is decided
  // by trial is decided, then "concurrency" runs at a time, so that the first requests are as fast
  // as any. False when nothing was run: a size other than the number of rows is not known, the
  // signature changes the model's state, or the values made up are none that it takes.
  bool Prepare(int64_t rows, int concurrency = 1, const RunOptions& options = {}) const;

 private:
  friend class SavedModel;
  struct Subsets;  // what computes some of the outputs

  Signature(std::string key, const proto::SignatureDef& def, Session& session);
  void Check(const NamedTensors& inputs) const;
  void CheckInput(const std::string& key, const SignatureTensor& wanted, const Tensor& value) const;
  const Callable* FindSubset(std::span<const int> wanted) const;
  void CallWithout(std::span<const Tensor> inputs, std::span<const int> wanted,
                   std::span<Tensor> outputs, const RunOptions& options) const;

  std::string key_, method_name_;
  std::map<std::string, SignatureTensor> inputs_, outputs_;
  NamedTensors defaults_;
  Session* session_;
  Callable run_;  // all inputs → all outputs
  std::unique_ptr<Subsets> subsets_;
};

class SEXTANT_API SavedModel {
 public:
  // Loads the graph whose tags are exactly these: imports it, restores the variables, fills the
  // tables. Throws NOT_FOUND when there is no SavedModel or no such graph; errors name the path.
  // Cancelling "cancellation" ends it early with its status.
  static SavedModel Load(const std::string& directory,
                         const std::set<std::string>& tags = {"serve"},
                         const SessionOptions& options = {},
                         CancellationToken* cancellation = nullptr);
  ~SavedModel();
  SavedModel(SavedModel&&) noexcept;
  SavedModel& operator=(SavedModel&&) noexcept;

  const std::string& directory() const { return directory_; }
  const Graph& graph() const { return *graph_; }
  Session& session() const { return *session_; }
  // As stored, without the graph.
  const proto::MetaGraphDef& meta_graph() const { return *meta_graph_; }

  // Throws NOT_FOUND, naming the signatures there are.
  const Signature& signature(std::string_view key = "serving_default") const;
  std::vector<std::string> signature_keys() const;  // sorted
  // Of its variables.
  int64_t bytes() const;

 private:
  SavedModel();
  void Restore(const RunOptions& options);
  void AddSignatures();

  std::string directory_;
  std::unique_ptr<proto::MetaGraphDef> meta_graph_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<Session> session_;
  std::map<std::string, Signature, std::less<>> signatures_;
};

}  // namespace sextant

#pragma GCC visibility pop
