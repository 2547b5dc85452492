#include "sextant/runtime/cluster.h"

#include <mutex>

#include "sextant/base/error.h"
#include "sextant/runtime/session_target.h"

namespace sextant {
namespace {

std::mutex opener_mutex;
ClusterOpener& TheClusterOpener() {
  static auto* opener = new ClusterOpener();
  return *opener;
}

ClusterOpener FindClusterOpener() {
  const std::lock_guard lock(opener_mutex);
  return TheClusterOpener();
}

}  // namespace

SEXTANT_API void RegisterClusterOpener(ClusterOpener open) {
  const std::lock_guard lock(opener_mutex);
  TheClusterOpener() = std::move(open);
}

std::unique_ptr<Cluster> OpenCluster(const ClusterTaskOptions& options) {
  if (!FindClusterOpener()) LoadTargetLibrary("grpc");
  const ClusterOpener open = FindClusterOpener();
  if (!open) throw FailedPrecondition("the library of clusters does not fit this program");
  return open(options);
}

}  // namespace sextant
