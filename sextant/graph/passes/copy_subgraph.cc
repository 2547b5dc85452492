#include "sextant/graph/passes/copy_subgraph.h"

#include <algorithm>
#include <queue>

#include "sextant/base/cancellable_wait.h"

namespace sextant {

void CheckOwned(const Graph& source, const Node& node) {
  if (&node.graph() == &source) return;
  throw InvalidArgument("{} belongs to another graph than the one being run", node.name());
}

// Copies nodes field by field, which only Graph's friends may.
class SubgraphCopier {
 public:
  SubgraphCopier(const Graph& source, const std::string& prefix)
      : source_(source), prefix_(prefix), copies_(source.num_nodes()), wanted_(source.num_nodes()) {
    result_.graph = std::make_unique<Graph>();
    Graph& graph = *result_.graph;
    graph.functions_.AddAll(source.functions_);
    graph.seed_ = source.seed_;
    graph.producer = source.producer;
  }

  void Feed(const SubgraphFeed& feed) {
    const Output t = feed.tensor;
    CheckOwned(source_, *t.node());
    if (fed_.contains(t)) throw InvalidArgument("tensor {} is fed twice", t.name());
    Graph& graph = *result_.graph;
    Node* node = graph.NewNodeUnchecked(fmt::format("_feed_{}_{}", fed_.size(), t.node()->name()),
                                        graph.FindOp("_Feed"));
    node->attrs_.emplace_back("dtype", feed.dtype);
    node->attrs_.emplace_back("shape", feed.shape);
    auto& info = node->outputs_.emplace_back();
    info.dtype = feed.dtype;
    info.shape = feed.shape;
    info.handle = t.node()->outputs_[t.index()].handle;
    node->device_ = t.node()->device_;
    fed_.emplace(t, node->output(0));
    result_.feeds.push_back(node->output(0));
    // Who waits for a node that is there to be fed waits for the feed; any other node still runs.
    const std::string& type = t.node()->type();
    if (feed.whole_node || type == "Placeholder" || type == "PlaceholderV2" || type == "_Arg") {
      copies_[t.node()->id()] = node;
    }
  }

  void Want(Node* root) {
    CheckOwned(source_, *root);
    Push(root);
    while (!stack_.empty()) {
      CancellationScope::ThrowIfCancelled();
      const Node* node = stack_.back();
      stack_.pop_back();
      for (const Output& input : node->inputs()) {
        if (!fed_.contains(input)) Push(input.node());
      }
      for (Node* control : node->control_inputs()) Push(control);
    }
  }

  void CopyNodes() {
    Graph& graph = *result_.graph;
    for (int id = 0; id < source_.num_nodes(); ++id) {
      if (!wanted_[id]) continue;
      CancellationScope::ThrowIfCancelled();
      const Node& from = *source_.node(id);
      Node* to = graph.NewNodeUnchecked(prefix_ + from.name_, from.op_);
      to->attrs_ = from.attrs_;
      to->outputs_ = from.outputs_;
      to->device_ = from.device_;
      copies_[id] = to;
    }
    for (int id = 0; id < source_.num_nodes(); ++id) {
      if (!wanted_[id]) continue;
      CancellationScope::ThrowIfCancelled();
      const Node& from = *source_.node(id);
      Node* to = copies_[id];
      to->inputs_.reserve(from.inputs_.size());
      for (const Output& input : from.inputs_) to->inputs_.push_back(Map(input));
      to->control_inputs_.reserve(from.control_inputs_.size());
      for (const Node* control : from.control_inputs_) {
        to->control_inputs_.push_back(copies_[control->id()]);
      }
    }
  }

  static void Reorder(Graph& graph, const std::vector<Node*>& order) {
    std::vector<std::unique_ptr<Node>> nodes;
    nodes.reserve(order.size());
    for (const Node* node : order) nodes.push_back(std::move(graph.nodes_[node->id_]));
    graph.nodes_ = std::move(nodes);
    for (size_t i = 0; i < order.size(); ++i) graph.nodes_[i]->id_ = static_cast<int>(i);
    ++graph.version_;
  }

  Output Map(Output output) const {
    if (const auto it = fed_.find(output); it != fed_.end()) return it->second;
    return Output(copies_[output.node()->id()], output.index());
  }
  Node* Copy(const Node* node) const { return copies_[node->id()]; }
  bool fed(Output output) const { return fed_.contains(output); }
  Subgraph& result() { return result_; }

 private:
  void Push(Node* node) {
    if (wanted_[node->id()] || copies_[node->id()]) return;
    wanted_[node->id()] = true;
    stack_.push_back(node);
  }

  const Graph& source_;
  const std::string prefix_;
  Subgraph result_;
  std::unordered_map<Output, Output> fed_;
  std::vector<Node*> copies_, stack_;
  std::vector<bool> wanted_;
};

Subgraph CopySubgraph(const Graph& source, const std::vector<SubgraphFeed>& feeds,
                      const std::vector<Output>& fetches, const std::vector<Operation>& targets,
                      const std::string& prefix) {
  SubgraphCopier copier(source, prefix);
  for (const SubgraphFeed& feed : feeds) copier.Feed(feed);
  for (const Output& fetch : fetches) {
    if (!copier.fed(fetch)) copier.Want(fetch.node());
  }
  for (const Operation& target : targets) copier.Want(target.node());
  copier.CopyNodes();
  for (const Output& fetch : fetches) copier.result().fetches.push_back(copier.Map(fetch));
  for (const Operation& target : targets) {
    copier.result().targets.push_back(copier.Copy(target.node()));
  }
  return std::move(copier.result());
}

void ReorderNodes(Graph& graph, const std::vector<Node*>& order) {
  SubgraphCopier::Reorder(graph, order);
}

std::vector<Node*> TopologicalOrder(const Graph& graph) {
  const int count = graph.num_nodes();
  const auto for_each_dependency = [](const Node& node, auto&& f) {
    for (const Output& input : node.inputs()) {
      const Node& from = *input.node();
      const bool closes_loop =
          node.type().ends_with("Merge") && from.type().ends_with("NextIteration");
      if (!closes_loop) f(from.id());
    }
    for (const Node* control : node.control_inputs()) f(control->id());
  };
  std::vector<Node*> order;
  order.reserve(count);
  // Graphs are mostly built in order.
  bool sorted = true;
  for (int id = 0; id < count; ++id) {
    order.push_back(graph.node(id));
    for_each_dependency(*graph.node(id), [&](int on) { sorted = sorted && on < id; });
  }
  if (sorted) return order;

  // Consumers of node i: consumers[first[i] .. first[i + 1]).
  std::vector<int> pending(count), first(count + 1), consumers;
  for (int id = 0; id < count; ++id) {
    for_each_dependency(*graph.node(id), [&](int on) {
      ++pending[id];
      ++first[on + 1];
    });
  }
  for (int i = 0; i < count; ++i) first[i + 1] += first[i];
  consumers.resize(first[count]);
  std::vector<int> next(first.begin(), first.end() - 1);
  for (int id = 0; id < count; ++id) {
    for_each_dependency(*graph.node(id), [&](int on) { consumers[next[on]++] = id; });
  }
  // A node that was added behind one that reads it comes where the first of its readers is. So all
  // others keep their order, which is that of the program: what touches a variable relies on it.
  std::vector<int> place(count), sources = pending, plain;
  plain.reserve(count);
  for (int id = 0; id < count; ++id) {
    place[id] = id;
    if (sources[id] == 0) plain.push_back(id);
  }
  for (size_t done = 0; done < plain.size(); ++done) {
    for (int c = first[plain[done]]; c < first[plain[done] + 1]; ++c) {
      if (--sources[consumers[c]] == 0) plain.push_back(consumers[c]);
    }
  }
  for (auto it = plain.rbegin(); it != plain.rend(); ++it) {
    for (int c = first[*it]; c < first[*it + 1]; ++c)
      place[*it] = std::min(place[*it], place[consumers[c]]);
  }
  std::priority_queue<std::pair<int, int>, std::vector<std::pair<int, int>>, std::greater<>> ready;
  for (int id = 0; id < count; ++id) {
    if (pending[id] == 0) ready.emplace(place[id], id);
  }
  order.clear();
  while (!ready.empty()) {
    const int id = ready.top().second;
    ready.pop();
    order.push_back(graph.node(id));
    for (int c = first[id]; c < first[id + 1]; ++c) {
      if (--pending[consumers[c]] == 0) ready.emplace(place[consumers[c]], consumers[c]);
    }
  }
  if (static_cast<int>(order.size()) != count) {
    const int id = static_cast<int>(std::ranges::find_if(pending, [](int p) { return p > 0; }) -
                                    pending.begin());
    throw InvalidArgument("the graph has a cycle through [{} {}]", graph.node(id)->type(),
                          graph.node(id)->name());
  }
  return order;
}

void RemoveUnneeded(Graph& graph, const std::vector<Node*>& needed) {
  std::vector<bool> wanted(graph.num_nodes());
  std::vector<const Node*> stack;
  const auto push = [&](const Node* node) {
    if (wanted[node->id()]) return;
    wanted[node->id()] = true;
    stack.push_back(node);
  };
  for (const Node* node : needed) push(node);
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    for (const Output& input : node->inputs()) push(input.node());
    for (const Node* control : node->control_inputs()) push(control);
  }
  std::vector<Node*> unneeded;
  for (int id = 0; id < graph.num_nodes(); ++id) {
    if (!wanted[id]) unneeded.push_back(graph.node(id));
  }
  if (!unneeded.empty()) graph.Remove(unneeded);
}

}  // namespace sextant
