// What a CoordinatorClient asks about blocks of the data and run states.
#include "sextant/dist/block_messages.h"
#include "sextant/dist/coordinator_client.h"

namespace sextant::dist {

BlockAnswer CoordinatorClient::NextBlock(const BlockQuestion& question) {
  NextBlockRequest request = MessageOf(question);
  FillMember(request.mutable_member());
  NextBlockReply reply;
  Ask("give a block of the data", [&](grpc::ClientContext* context) {
    reply.Clear();
    return stub_->NextBlock(context, request, &reply);
  });
  return AnswerOfBlocks(reply);
}

void CoordinatorClient::DescribeInput(const std::string& source,
                                      const std::vector<std::string>& blocks) {
  DescribeInputRequest request;
  FillMember(request.mutable_member());
  request.set_source(source);
  for (const std::string& block : blocks) request.add_blocks(block);
  Nothing reply;
  Ask("take the list of blocks",
      [&](grpc::ClientContext* context) { return stub_->DescribeInput(context, request, &reply); });
}

ClusterRunState CoordinatorClient::SaveRunState() {
  MemberRequest request;
  FillMember(request.mutable_member());
  InputState reply;
  Ask("say which blocks are read", [&](grpc::ClientContext* context) {
    reply.Clear();
    return stub_->SaveInput(context, request, &reply);
  });
  return RunStateOf(reply);
}

void CoordinatorClient::RestoreRunState(const ClusterRunState& state) {
  InputState request = MessageOf(state);
  FillMember(request.mutable_member());
  Nothing reply;
  Ask("restore which blocks are read",
      [&](grpc::ClientContext* context) { return stub_->RestoreInput(context, request, &reply); });
}

void CoordinatorClient::NoteRunState(int64_t step, const std::string& state) {
  RankState request;
  FillMember(request.mutable_member());
  request.set_step(step);
  request.set_state(state);
  Nothing reply;
  Ask("note the state of the input",
      [&](grpc::ClientContext* context) { return stub_->NoteRunState(context, request, &reply); });
}

std::string CoordinatorClient::TakeRunState() {
  MemberRequest request;
  FillMember(request.mutable_member());
  RankState reply;
  Ask("give the state of the input", [&](grpc::ClientContext* context) {
    reply.Clear();
    return stub_->TakeRunState(context, request, &reply);
  });
  return reply.state();
}

}  // namespace sextant::dist
