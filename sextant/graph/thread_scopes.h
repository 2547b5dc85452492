// The open scopes of one thread, carried to another one that builds in the same graph.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sextant/graph/scope.h"

namespace sextant {

// How often each name was opened inside a variable scope (variable_scope_names.h).
using ScopeCounts = std::map<std::string, int, std::less<>>;

// What is open on the thread that makes it. REQUIRES: a GraphScope is open.
struct ThreadScopes {
  ThreadScopes();

  ScopeState state;
  std::string variable_scope;
  Reuse reuse;
  std::vector<ScopeCounts> counts;  // outermost first; never empty
};

// Opens them on a thread that has none of its own, until that thread ends. Counts of names are a
// copy: what is opened here gets the names that it would have got there.
void OpenScopes(const ThreadScopes& scopes);

}  // namespace sextant
