#include "sextant/graph/output.h"

#include "sextant/graph/graph.h"

namespace sextant {
namespace {

thread_local Evaluator* current_evaluator = nullptr;

Evaluator& RequireEvaluator(const char* what) {
  if (!current_evaluator) {
    throw FailedPrecondition("{} needs an open SessionScope on this thread", what);
  }
  return *current_evaluator;
}

}  // namespace

Evaluator* Evaluator::Current() { return current_evaluator; }
Evaluator* Evaluator::SetCurrent(Evaluator* evaluator) {
  return std::exchange(current_evaluator, evaluator);
}

const std::string& Operation::name() const { return node_->name(); }

void Operation::Run(const FeedMap& feeds) const {
  RequireEvaluator("Operation::Run").Evaluate(feeds, {}, {*this});
}

DType Output::dtype() const { return node_->output_type(index_); }
const PartialShape& Output::shape() const { return node_->output_shape(index_); }
std::string Output::name() const { return fmt::format("{}:{}", node_->name(), index_); }
Graph& Output::graph() const { return node_->graph(); }

Tensor Output::Eval(const FeedMap& feeds) const {
  return RequireEvaluator("Output::Eval").Evaluate(feeds, {*this}, {})[0];
}

}  // namespace sextant
