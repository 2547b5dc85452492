// Positions of a session's iterators, by the names of their nodes: what a checkpoint keeps of the
// input.
#pragma once

#include <map>
#include <string>

namespace sextant {
class ResourceManager;
}

namespace sextant::data {

// Iterators that have not begun are left out. REQUIRES: no Run is under way.
std::map<std::string, std::string> SaveIteratorStates(ResourceManager& session);
// Before or after their first element; iterators that are left out are as if they had never begun.
// The state of another pipeline is a FAILED_PRECONDITION; with
// or_begin_anew the iterator begins anew, with a warning. REQUIRES: no Run is under way.
void RestoreIteratorStates(const std::map<std::string, std::string>& states,
                           ResourceManager& session, bool or_begin_anew = false);

}  // namespace sextant::data
