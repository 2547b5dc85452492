// ShardClient: the RPC client of the shards on all parameter servers (shard.h).
//
// Questions go to all servers at once and are sent again as long as one cannot be reached, which is
// said within 5 s, then every 30 s. Errors name the server.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sextant/base/cancellation.h"
#include "sextant/dist/peers.h"
#include "sextant/dist/shard_epoch.h"
#include "sextant/proto/cluster.grpc.pb.h"

namespace sextant::dist {

class ShardClient {
 public:
  // "check_wait" throws when servers are not waited for any more, "cancellation" gives the token
  // that ends waits now. Peers and tokens outlive it.
  ShardClient(Peers& peers, int num_ps, std::function<void()> check_wait,
              std::function<CancellationToken&()> cancellation)
      : peers_(peers),
        num_ps_(num_ps),
        check_wait_(std::move(check_wait)),
        cancellation_(std::move(cancellation)) {}

  std::vector<ShardState> States();
  void Begin(uint64_t epoch, uint64_t chief, const ModelSignature& model);
  void Commit(uint64_t epoch, uint64_t chief);
  void Hold(const CutRequest& cut);
  void Take(const CutRequest& cut);
  // Once; a server that does not hear of it drops the cut for the next one.
  void Drop(const CutRequest& cut) noexcept;

 private:
  using Method = std::function<grpc::Status(int ps, ShardService::Stub&, grpc::ClientContext*)>;

  void AskOne(int ps, const Method& method, const std::function<void(std::string)>& waits_because);
  // Throws the first error when all have ended. Says for which servers it waits.
  void Ask(const char* what, const Method& method);

  Peers& peers_;
  const int num_ps_;
  const std::function<void()> check_wait_;
  const std::function<CancellationToken&()> cancellation_;
};

}  // namespace sextant::dist
