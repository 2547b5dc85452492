// SentGraph: how much of a client's graph the server has. The graph is sent once and then what has
// been added; all of it again after nodes were rewritten, or when nobody knows what arrived.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sextant/graph/graph.h"

namespace sextant::dist {

class SentGraph {
 public:
  // "graph" must outlive it. The server has nothing yet.
  explicit SentGraph(const Graph& graph) : graph_(graph) {}

  struct Addition {
    std::string graph_def;
    int nodes_before = 0;  // that the server has without these; 0: these replace what it has
    int nodes = 0;
    int64_t version = 0;  // of the graph
    std::vector<std::string> functions;
  };
  // What the server does not have; none when it has all.
  std::optional<Addition> Missing() const;
  // The server has taken it.
  void Sent(const Addition& addition);
  // It may have been taken or not.
  void Lost() { known_ = false; }

 private:
  const Graph& graph_;
  bool known_ = false;  // whether those below are what the server has
  int nodes_ = 0;
  int64_t version_ = 0;
  std::set<std::string> functions_;
};

}  // namespace sextant::dist
