#include "sextant/dist/shard_service.h"

namespace sextant::dist {

ShardHost::Unary ShardHost::GetShard(Context context, const Nothing* /*request*/,
                                     ShardReply* reply) {
  return admission_.Answer(context, [&]() -> grpc::Status {
    const ShardState state = shard_.state();
    reply->set_phase(state.phase == ShardPhase::kReady   ? ShardReply::READY
                     : state.phase == ShardPhase::kBegun ? ShardReply::BEGUN
                                                         : ShardReply::EMPTY);
    reply->set_epoch(state.epoch);
    reply->set_incarnation(incarnation_);
    for (const VariableSpec& variable : state.signature) {
      VariableMessage* added = reply->add_signature();
      added->set_name(variable.name);
      added->set_dtype(variable.dtype);
      added->set_shape(variable.shape);
    }
    return grpc::Status::OK;
  });
}

ShardHost::Unary ShardHost::BeginShard(Context context, const BeginShardRequest* request,
                                       Nothing* /*reply*/) {
  return admission_.AnswerLater(threads_, context, [this, request]() -> grpc::Status {
    ModelSignature signature;
    for (const VariableMessage& variable : request->signature())
      signature.push_back({variable.name(), variable.dtype(), variable.shape()});
    shard_.Begin(request->epoch(), request->chief(), std::move(signature));
    return grpc::Status::OK;
  });
}

ShardHost::Unary ShardHost::CommitShard(Context context, const ShardEpochRequest* request,
                                        Nothing* /*reply*/) {
  return admission_.Answer(context, [&]() -> grpc::Status {
    shard_.Commit(request->epoch());
    return grpc::Status::OK;
  });
}

ShardHost::Unary ShardHost::HoldCut(Context context, const CutRequest* request,
                                    Nothing* /*reply*/) {
  return admission_.AnswerLater(threads_, context, [this, request]() -> grpc::Status {
    shard_.Hold(request->epoch(), request->cut());
    return grpc::Status::OK;
  });
}

ShardHost::Unary ShardHost::TakeCut(Context context, const CutRequest* request,
                                    Nothing* /*reply*/) {
  return admission_.AnswerLater(threads_, context, [this, request]() -> grpc::Status {
    shard_.Take(request->epoch(), request->cut());
    return grpc::Status::OK;
  });
}

ShardHost::Unary ShardHost::EndCut(Context context, const CutRequest* request, Nothing* /*reply*/) {
  return admission_.Answer(context, [&]() -> grpc::Status {
    shard_.Drop(request->cut());
    return grpc::Status::OK;
  });
}

}  // namespace sextant::dist
