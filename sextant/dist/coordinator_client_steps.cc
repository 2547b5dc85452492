// What a task asks the coordinator about synchronous steps.
#include "sextant/dist/coordinator_client.h"

namespace sextant::dist {
namespace {

UpdatePartRequest PartRequest(const UpdatePart& part, uint64_t epoch, int64_t step) {
  UpdatePartRequest request;
  request.set_part(part.part);
  request.set_num_parts(part.num_parts);
  request.set_stage(part.stage);
  request.set_epoch(epoch);
  request.set_step(step);
  return request;
}

}  // namespace

std::optional<StepToken> CoordinatorClient::TakeToken(uint64_t epoch) {
  TakeTokenRequest request;
  FillMember(request.mutable_member());
  request.set_epoch(epoch);
  TakeTokenReply reply;
  Ask("give a token", [&](grpc::ClientContext* context) {
    reply.Clear();
    return stub_->TakeToken(context, request, &reply);
  });
  Note(reply.member());
  if (!reply.has_token()) return std::nullopt;
  return StepToken{reply.token().step(), reply.token().number()};
}

void CoordinatorClient::UsedToken(uint64_t epoch, const StepToken& token,
                                  const std::string& state) {
  UsedTokenRequest request;
  FillMember(request.mutable_member());
  request.set_epoch(epoch);
  request.set_state(state);
  request.mutable_token()->set_step(token.step);
  request.mutable_token()->set_number(token.number);
  Nothing reply;
  Ask("take a token back",
      [&](grpc::ClientContext* context) { return stub_->UsedToken(context, request, &reply); });
}

bool CoordinatorClient::MayBegin(uint64_t epoch, int64_t clock) {
  ClockRequest request;
  FillMember(request.mutable_member());
  request.set_epoch(epoch);
  request.set_clock(clock);
  ClockReply reply;
  Ask("say whether others are behind",
      [&](grpc::ClientContext* context) { return stub_->MayBegin(context, request, &reply); });
  return reply.may();
}

bool CoordinatorClient::PartReady(const UpdatePart& part, uint64_t epoch, int64_t step) {
  const UpdatePartRequest request = PartRequest(part, epoch, step);
  UpdatePartReply reply;
  Ask("commit a step",
      [&](grpc::ClientContext* context) { return stub_->PartReady(context, request, &reply); });
  return reply.run();
}

void CoordinatorClient::PartRan(const UpdatePart& part, uint64_t epoch, int64_t step) {
  const UpdatePartRequest request = PartRequest(part, epoch, step);
  Nothing reply;
  Ask("count a step",
      [&](grpc::ClientContext* context) { return stub_->PartRan(context, request, &reply); });
}

void CoordinatorClient::StepFailed(uint64_t epoch, const Status& why) {
  StepFailedRequest request;
  request.set_epoch(epoch);
  request.set_code(static_cast<int32_t>(why.code()));
  request.set_message(why.message());
  Nothing reply;
  Ask("hear of an error",
      [&](grpc::ClientContext* context) { return stub_->StepFailed(context, request, &reply); });
}

bool CoordinatorClient::HoldSteps(uint64_t cut) {
  HoldStepsRequest request;
  FillMember(request.mutable_member());
  request.set_cut(cut);
  HoldStepsReply reply;
  Ask("hold the steps",
      [&](grpc::ClientContext* context) { return stub_->HoldSteps(context, request, &reply); });
  return reply.held();
}

bool CoordinatorClient::ReleaseSteps(uint64_t cut) {
  HoldStepsRequest request;
  FillMember(request.mutable_member());
  request.set_cut(cut);
  ReleaseStepsReply reply;
  Ask("go on with the steps",
      [&](grpc::ClientContext* context) { return stub_->ReleaseSteps(context, request, &reply); });
  return reply.stood();
}

}  // namespace sextant::dist
