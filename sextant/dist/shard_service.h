// ShardHost: the RPCs around a parameter server's Shard.
#pragma once

#include "sextant/dist/admission.h"
#include "sextant/dist/call_threads.h"
#include "sextant/dist/shard.h"
#include "sextant/proto/cluster.grpc.pb.h"

namespace sextant::dist {

using ShardServiceBase = ShardService::WithCallbackMethod_GetShard<
    ShardService::WithCallbackMethod_BeginShard<ShardService::WithCallbackMethod_CommitShard<
        ShardService::WithCallbackMethod_HoldCut<ShardService::WithCallbackMethod_TakeCut<
            ShardService::WithCallbackMethod_EndCut<ShardService::Service>>>>>>;

class ShardHost final : public ShardServiceBase {
 public:
  // Both must outlive it.
  ShardHost(Shard& shard, const Admission& admission, uint64_t incarnation)
      : shard_(shard), admission_(admission), incarnation_(incarnation) {}

  using Unary = grpc::ServerUnaryReactor*;
  using Context = grpc::CallbackServerContext*;
  Unary GetShard(Context context, const Nothing* request, ShardReply* reply) override;
  Unary BeginShard(Context context, const BeginShardRequest* request, Nothing* reply) override;
  Unary CommitShard(Context context, const ShardEpochRequest* request, Nothing* reply) override;
  Unary HoldCut(Context context, const CutRequest* request, Nothing* reply) override;
  Unary TakeCut(Context context, const CutRequest* request, Nothing* reply) override;
  Unary EndCut(Context context, const CutRequest* request, Nothing* reply) override;

 private:
  Shard& shard_;
  const Admission& admission_;
  const uint64_t incarnation_;
  CallThreads threads_;
};

}  // namespace sextant::dist
