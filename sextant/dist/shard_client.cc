#include "sextant/dist/shard_client.h"

#include <chrono>
#include <future>
#include <mutex>

#include "sextant/base/wait_notice.h"
#include "sextant/dist/cluster_spec.h"
#include "sextant/dist/peer_attempt.h"
#include "sextant/net/channel.h"

namespace sextant::dist {
namespace {

constexpr std::chrono::seconds kShardTime(15), kDropTime(1);
constexpr std::chrono::milliseconds kShardPause(50);

ShardPhase PhaseOf(const ShardReply& reply) {
  if (reply.phase() == ShardReply::READY) return ShardPhase::kReady;
  return reply.phase() == ShardReply::BEGUN ? ShardPhase::kBegun : ShardPhase::kEmpty;
}

}  // namespace

void ShardClient::AskOne(int ps, const Method& method,
                         const std::function<void(std::string)>& waits_because) {
  Peer& peer = peers_.FindPeer(TaskName("ps", ps));
  const std::unique_ptr<ShardService::Stub> stub = ShardService::NewStub(peer.control());
  CancellationToken& cancellation = cancellation_();
  for (;;) {
    check_wait_();
    grpc::ClientContext context;
    context.set_deadline(In(kShardTime));
    peer.token().AddTo(context);
    grpc::Status status;
    {
      const auto abandon = cancellation.OnCancel([&] { context.TryCancel(); });
      status = method(ps, *stub, &context);
    }
    if (status.ok()) return;
    cancellation.ThrowIfCancelled();
    const sextant::Status error = net::FromGrpcStatus(status);
    if (!net::IsTransient(error.code()))
      throw ErrorOfTask(Error(error.code(), error.message()), TaskName("ps", ps));
    waits_because(error.message());
    PauseFor(kShardPause, cancellation);
    peer.ConnectAgain();
  }
}

void ShardClient::Ask(const char* what, const Method& method) {
  std::mutex mutex;
  std::vector<std::string> why(num_ps_, "no answer yet");  // by server that is waited for
  std::vector<std::future<void>> asked;
  for (int ps = 0; ps < num_ps_; ++ps) {
    asked.push_back(std::async(std::launch::async, [&, ps] {
      AskOne(ps, method, [&, ps](std::string reason) {
        const std::lock_guard lock(mutex);
        why[ps] = std::move(reason);
      });
    }));
  }
  WaitNotice notice;
  for (int ps = 0; ps < num_ps_; ++ps) {
    while (asked[ps].wait_for(kWaitLook) != std::future_status::ready) {
      notice.Say([&] {
        const Peer& peer = peers_.FindPeer(TaskName("ps", ps));
        const std::lock_guard lock(mutex);
        return fmt::format("waiting for {} at {} to {}: {}", peer.place(), peer.address(), what,
                           why[ps]);
      });
    }
  }
  for (auto& one : asked) one.get();
}

std::vector<ShardState> ShardClient::States() {
  std::vector<ShardState> states(num_ps_);
  Ask("say what it holds", [&](int ps, ShardService::Stub& stub, grpc::ClientContext* context) {
    ShardReply reply;
    grpc::Status status = stub.GetShard(context, Nothing(), &reply);
    states[ps] = {PhaseOf(reply), reply.epoch(), {}};
    for (const VariableMessage& variable : reply.signature())
      states[ps].signature.push_back({variable.name(), variable.dtype(), variable.shape()});
    return status;
  });
  return states;
}

void ShardClient::Begin(uint64_t epoch, uint64_t chief, const ModelSignature& model) {
  BeginShardRequest request;
  request.set_epoch(epoch);
  request.set_chief(chief);
  for (const VariableSpec& variable : model) {
    VariableMessage* added = request.add_signature();
    added->set_name(variable.name);
    added->set_dtype(variable.dtype);
    added->set_shape(variable.shape);
  }
  Ask("begin an epoch", [&](int /*ps*/, ShardService::Stub& stub, grpc::ClientContext* context) {
    Nothing reply;
    return stub.BeginShard(context, request, &reply);
  });
}

void ShardClient::Commit(uint64_t epoch, uint64_t chief) {
  ShardEpochRequest request;
  request.set_epoch(epoch);
  request.set_chief(chief);
  Ask("commit the epoch", [&](int /*ps*/, ShardService::Stub& stub, grpc::ClientContext* context) {
    Nothing reply;
    return stub.CommitShard(context, request, &reply);
  });
}

void ShardClient::Hold(const CutRequest& cut) {
  Ask("hold its updates", [&](int /*ps*/, ShardService::Stub& stub, grpc::ClientContext* context) {
    Nothing reply;
    return stub.HoldCut(context, cut, &reply);
  });
}

void ShardClient::Take(const CutRequest& cut) {
  Ask("take a snapshot", [&](int /*ps*/, ShardService::Stub& stub, grpc::ClientContext* context) {
    Nothing reply;
    return stub.TakeCut(context, cut, &reply);
  });
}

void ShardClient::Drop(const CutRequest& cut) noexcept {
  for (int ps = 0; ps < num_ps_; ++ps) {
    try {
      Peer& peer = peers_.FindPeer(TaskName("ps", ps));
      grpc::ClientContext context;
      context.set_deadline(In(kDropTime));
      peer.token().AddTo(context);
      Nothing reply;
      ShardService::NewStub(peer.control())->EndCut(&context, cut, &reply);
    } catch (const std::exception&) {  // it ends by itself
    }
  }
}

}  // namespace sextant::dist
