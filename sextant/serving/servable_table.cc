#include "sextant/serving/servable_table.h"

#include <atomic>

#include "sextant/base/fingerprint.h"

namespace sextant::serving {
namespace {

// A point of the traffic: by the key or, without one, going through all of them evenly.
uint64_t TrafficPoint(std::string_view sticky_key) {
  if (!sticky_key.empty()) return Fingerprint64(sticky_key);
  static std::atomic<uint64_t> next{0};
  // The golden ratio spreads consecutive numbers over the whole range.
  return next.fetch_add(1, std::memory_order_relaxed) * 0x9e3779b97f4a7c15u;
}

}  // namespace

std::shared_ptr<const Servable> ModelView::Choose(const VersionChoice& choice) const {
  const auto find = [&](int64_t version) -> std::shared_ptr<const Servable> {
    const auto found = versions.find(version);
    return found == versions.end() ? nullptr : found->second;
  };
  if (choice.version) return find(*choice.version);
  if (!choice.label.empty()) {
    const auto label = config.labels.find(std::string(choice.label));
    return label == config.labels.end() ? nullptr : find(label->second);
  }
  if (versions.empty()) return nullptr;
  uint64_t total = 0;
  for (const TrafficShare& share : config.traffic) {
    if (versions.contains(share.version)) total += share.weight;
  }
  if (total > 0) {
    // The high bits of the point times the total: uniform over the weights.
    auto at = static_cast<uint64_t>(
        (static_cast<unsigned __int128>(TrafficPoint(choice.sticky_key)) * total) >> 64);
    for (const TrafficShare& share : config.traffic) {
      if (!versions.contains(share.version)) continue;
      if (at < share.weight) return find(share.version);
      at -= share.weight;
    }
  }
  return versions.rbegin()->second;
}

}  // namespace sextant::serving
