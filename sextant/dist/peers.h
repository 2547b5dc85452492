// Peers: the other tasks of a cluster, as sessions of this one reach them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sextant/device/device.h"
#include "sextant/dist/cluster_spec.h"
#include "sextant/dist/peer.h"

namespace sextant::dist {

class Peers : public RemoteTasks {
 public:
  // Nothing is connected yet.
  Peers(const ClusterSpec& cluster, const std::string& own_task,
        const net::CredentialOptions& credentials,
        std::shared_ptr<const TrainingStamp> training = {}, bool shared_frames = true);
  ~Peers() override;

  RemoteTask& Find(std::string_view task) override { return FindPeer(task); }
  std::vector<Device*> Devices(std::string_view task) override;
  void EndSession(uint64_t session) noexcept override;
  // Throws NOT_FOUND, naming the tasks there are.
  Peer& FindPeer(std::string_view task);

  // The first host device of each of the other tasks, for placement.
  std::vector<Device*> devices() const;
  std::vector<PeerStatus> Status() const;
  // To be called now and then.
  void StayAlive();
  // They may be other processes now.
  void ForgetIncarnations();

 private:
  std::map<std::string, std::shared_ptr<Peer>, std::less<>> peers_;
  std::vector<std::unique_ptr<Device>> devices_;  // names only: nothing of them runs here
  std::mutex mutex_;
  std::map<std::string, std::vector<std::unique_ptr<Device>>, std::less<>> told_;  // by the tasks
};

}  // namespace sextant::dist
