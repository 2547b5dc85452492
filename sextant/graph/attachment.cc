#include "sextant/graph/attachment.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace sextant {
namespace {

// Beside the graphs instead of in them: few graphs have any, and plans make many graphs.
struct Table {
  std::mutex mutex;
  std::map<std::pair<const Graph*, std::string>, std::shared_ptr<void>> objects;
};

Table& TheTable() {
  static Table* const table = new Table;  // outlives graphs in static storage
  return *table;
}

}  // namespace

std::shared_ptr<void> AttachedTo(const Graph& graph, std::string_view key,
                                 const std::function<std::shared_ptr<void>()>& make) {
  Table& table = TheTable();
  const std::lock_guard lock(table.mutex);
  std::shared_ptr<void>& object = table.objects[{&graph, std::string(key)}];
  if (!object) object = make();
  return object;
}

void DropAttachments(const Graph& graph) {
  Table& table = TheTable();
  std::vector<std::shared_ptr<void>> dropped;  // destroyed after the lock is gone
  const std::lock_guard lock(table.mutex);
  auto it = table.objects.lower_bound({&graph, std::string()});
  while (it != table.objects.end() && it->first.first == &graph) {
    dropped.push_back(std::move(it->second));
    it = table.objects.erase(it);
  }
}

}  // namespace sextant
