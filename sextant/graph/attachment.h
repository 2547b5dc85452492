// Attachments: objects owned by a graph whose types this module does not know, such as datasets of
// iterators, name counters, parts of an imported MetaGraph. They are destroyed with the graph;
// copies of the graph and GraphDefs do not have them.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

namespace sextant {

class Graph;

// The object kept under "key", made by "make" when there is none. Thread-safe; the object itself is
// its maker's to synchronise.
std::shared_ptr<void> AttachedTo(const Graph& graph, std::string_view key,
                                 const std::function<std::shared_ptr<void>()>& make);

template <typename T>
std::shared_ptr<T> AttachedTo(const Graph& graph, std::string_view key) {
  return std::static_pointer_cast<T>(
      AttachedTo(graph, key, [] { return std::shared_ptr<void>(std::make_shared<T>()); }));
}

// Called by the graph's destructor.
void DropAttachments(const Graph& graph);

}  // namespace sextant
