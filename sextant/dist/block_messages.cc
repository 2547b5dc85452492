#include "sextant/dist/block_messages.h"

namespace sextant::dist {
namespace {

using Kind = BlockAnswer::Kind;

void FillBlockId(const BlockId& id, InputBlockId* message) {
  message->set_iteration(id.iteration);
  message->set_number(id.number);
}

BlockId BlockIdOf(const InputBlockId& message) { return {message.iteration(), message.number()}; }

}  // namespace

NextBlockRequest MessageOf(const BlockQuestion& question) {
  NextBlockRequest message;
  message.set_source(question.source);
  message.set_iteration(question.iteration);
  message.set_more_follow(question.more_follow);
  message.set_report_only(question.report_only);
  for (const BlockId& id : question.read) FillBlockId(id, message.add_read());
  for (const BlockId& id : question.held) FillBlockId(id, message.add_held());
  return message;
}

BlockQuestion QuestionOf(const NextBlockRequest& message) {
  BlockQuestion question{.source = message.source(),
                         .iteration = message.iteration(),
                         .more_follow = message.more_follow(),
                         .report_only = message.report_only()};
  for (const InputBlockId& id : message.read()) question.read.push_back(BlockIdOf(id));
  for (const InputBlockId& id : message.held()) question.held.push_back(BlockIdOf(id));
  return question;
}

void FillAnswer(const BlockAnswer& answer, NextBlockReply* message) {
  message->set_kind(answer.kind == Kind::kBlock  ? NextBlockReply::BLOCK
                    : answer.kind == Kind::kWait ? NextBlockReply::WAIT
                    : answer.kind == Kind::kEnd  ? NextBlockReply::END
                                                 : NextBlockReply::DESCRIBE);
  FillBlockId(answer.id, message->mutable_id());
  message->set_block(answer.block);
  message->set_read_elsewhere(answer.read_elsewhere);
}

BlockAnswer AnswerOfBlocks(const NextBlockReply& message) {
  BlockAnswer answer{.id = BlockIdOf(message.id()),
                     .block = message.block(),
                     .read_elsewhere = message.read_elsewhere()};
  switch (message.kind()) {
    case NextBlockReply::BLOCK:
      answer.kind = Kind::kBlock;
      break;
    case NextBlockReply::WAIT:
      answer.kind = Kind::kWait;
      break;
    case NextBlockReply::DESCRIBE:
      answer.kind = Kind::kDescribe;
      break;
    default:
      answer.kind = Kind::kEnd;
  }
  return answer;
}

InputState MessageOf(const ClusterRunState& state) {
  InputState message;
  message.set_state(state.input);
  for (const auto& [rank, bytes] : state.ranks) {
    RankState* const added = message.add_ranks();
    added->set_rank(rank);
    added->set_state(bytes);
  }
  return message;
}

ClusterRunState RunStateOf(const InputState& message) {
  ClusterRunState state{.input = message.state()};
  for (const RankState& rank : message.ranks()) state.ranks[rank.rank()] = rank.state();
  return state;
}

}  // namespace sextant::dist
