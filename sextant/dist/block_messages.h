// Questions about blocks of the training data, their answers, and run states, as messages.
#pragma once

#include "sextant/proto/cluster.pb.h"
#include "sextant/runtime/block_question.h"

namespace sextant::dist {

NextBlockRequest MessageOf(const BlockQuestion& question);
BlockQuestion QuestionOf(const NextBlockRequest& message);
void FillAnswer(const BlockAnswer& answer, NextBlockReply* message);
BlockAnswer AnswerOfBlocks(const NextBlockReply& message);

InputState MessageOf(const ClusterRunState& state);
ClusterRunState RunStateOf(const InputState& message);

}  // namespace sextant::dist
