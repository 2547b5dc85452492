#include "sextant/dist/peers.h"

#include <algorithm>

#include "sextant/base/current_cancellation.h"

namespace sextant::dist {
namespace {

HelloReply AskAboutDevices(Peer& peer) {
  CancellationToken never;
  CancellationToken* const scope = CurrentCancellation();
  CancellationToken& token = scope != nullptr ? *scope : never;
  try {
    return peer.SayHello(token);
  } catch (const Error& error) {
    if (error.code() != Code::kDeadlineExceeded || !token.cancelled()) throw;
    throw Error(error.code(),
                fmt::format("{}: no answer yet from {}{}, asked for its devices",
                            token.status().message(), peer.place(), peer.hindrance()));
  }
}

}  // namespace

Peers::Peers(const ClusterSpec& cluster, const std::string& own_task,
             const net::CredentialOptions& credentials,
             std::shared_ptr<const TrainingStamp> training, bool shared_frames) {
  const auto keeper = [this](const std::string& task, uint64_t run) {
    const auto found = peers_.find(task);
    return found == peers_.end() ? 0 : found->second->KeeperOf(run);
  };
  for (const auto& [job, addresses] : cluster) {
    for (size_t i = 0; i < addresses.size(); ++i) {
      const std::string task = TaskName(job, static_cast<int>(i));
      if (task == own_task || addresses[i].empty()) continue;
      peers_.emplace(task, std::make_shared<Peer>(PeerOptions{.task = task,
                                                              .address = addresses[i],
                                                              .own_task = own_task,
                                                              .credentials = credentials,
                                                              .training = training,
                                                              .shared_frames = shared_frames,
                                                              .keeper = keeper}));
      devices_.push_back(std::move(MakeHostDevices(1, task)[0]));
    }
  }
}
Peers::~Peers() = default;

Peer& Peers::FindPeer(std::string_view task) {
  const auto found = peers_.find(task);
  if (found != peers_.end()) return *found->second;
  std::string tasks;
  for (const auto& [name, peer] : peers_) tasks += (tasks.empty() ? "" : ", ") + name;
  throw NotFound("the cluster has no task {}; it has {}", task, tasks);
}

std::vector<Device*> Peers::Devices(std::string_view task) {
  const HelloReply reply = AskAboutDevices(FindPeer(task));
  const size_t count = static_cast<size_t>(std::ranges::count_if(
      reply.devices(), [](const DeviceAttributes& device) { return device.type() == "CPU"; }));
  const std::lock_guard lock(mutex_);
  auto& told = told_[std::string(task)];
  while (told.size() < count)
    told.push_back(std::move(MakeHostDevices(static_cast<int>(told.size()) + 1, task).back()));
  std::vector<Device*> devices;
  for (size_t i = 0; i < count; ++i) devices.push_back(told[i].get());
  return devices;
}

void Peers::EndSession(uint64_t session) noexcept {
  for (const auto& [name, peer] : peers_) peer->EndSession(session);
}

std::vector<Device*> Peers::devices() const {
  std::vector<Device*> devices;
  for (const auto& device : devices_) devices.push_back(device.get());
  return devices;
}

std::vector<PeerStatus> Peers::Status() const {
  std::vector<PeerStatus> status;
  for (const auto& [name, peer] : peers_) status.push_back(peer->Status());
  return status;
}

void Peers::ForgetIncarnations() {
  for (const auto& [name, peer] : peers_) peer->ForgetIncarnation();
}

void Peers::StayAlive() {
  for (const auto& [name, peer] : peers_) {
    peer->StayAlive();
    peer->Tidy();
  }
}

}  // namespace sextant::dist
