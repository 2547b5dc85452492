#include "sextant/dist/kept_inputs.h"

#include <future>
#include <map>

#include "sextant/base/error.h"

namespace sextant::dist {
namespace {

// Of one fragment of one task: positions in what it keeps, and where they belong in the inputs.
struct Wanted {
  std::vector<int32_t> positions;
  std::vector<size_t> inputs;
};
using WantedOfTask = std::map<uint64_t, Wanted>;  // by maker

KeptHeader Question(const std::string& task, const WantedOfTask& wanted, const CallHeader& call) {
  KeptHeader question;
  question.set_run(call.stamp().run());
  for (const Keeper& keeper : call.keepers()) {
    if (keeper.task() == task) question.set_receiver(keeper.incarnation());
  }
  for (const auto& [maker, of_maker] : wanted) {
    KeptTensors* tensors = question.add_tensors();
    tensors->set_maker(maker);
    tensors->mutable_positions()->Assign(of_maker.positions.begin(), of_maker.positions.end());
  }
  return question;
}

void Fetch(Peer& peer, const WantedOfTask& wanted, const KeptHeader& question,
           CancellationToken& cancellation, std::vector<Tensor>& tensors) {
  std::vector<Tensor> frame = peer.FetchKept(question, cancellation);
  size_t expected = 0, next = 0;
  for (const auto& [maker, of_maker] : wanted) expected += of_maker.inputs.size();
  if (frame.size() != expected) {
    throw DataLoss("{} gave {} tensors where {} were asked for", peer.place(), frame.size(),
                   expected);
  }
  for (const auto& [maker, of_maker] : wanted) {
    for (const size_t input : of_maker.inputs) tensors[input] = std::move(frame[next++]);
  }
}

}  // namespace

std::vector<Tensor> FetchKeptInputs(const Fragment& fragment, const CallHeader& header,
                                    const FragmentHost& host,
                                    const std::function<Peer&(const std::string& task)>& find_peer,
                                    CancellationToken& cancellation) {
  std::vector<Tensor> tensors(fragment.kept_inputs.size());
  std::map<std::string, WantedOfTask> others;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Fragment::KeptInput& input = fragment.kept_inputs[i];
    if (input.task == fragment.task) {
      tensors[i] = host.Kept(header.stamp().run(), input.maker, std::span(&input.position, 1))[0];
      continue;
    }
    Wanted& wanted = others[input.task][input.maker];
    wanted.positions.push_back(input.position);
    wanted.inputs.push_back(i);
  }
  CancellationToken any;  // cancelled with the call, or with the error of the first that fails
  const auto pass_on = cancellation.OnCancel([&] { any.Cancel(cancellation.status()); });
  const auto fetch = [&](const std::string& task, const WantedOfTask& wanted) {
    try {
      Fetch(find_peer(task), wanted, Question(task, wanted, header), any, tensors);
    } catch (...) {
      any.Cancel(CurrentStatus());
    }
  };
  {
    std::vector<std::future<void>> all;  // waits for them
    for (const auto& [task, wanted] : others) {
      const bool here = all.size() + 1 == others.size();
      all.push_back(std::async(here ? std::launch::deferred : std::launch::async, fetch,
                               std::cref(task), std::cref(wanted)));
    }
    if (!all.empty()) all.back().wait();
  }
  any.ThrowIfCancelled();
  return tensors;
}

}  // namespace sextant::dist
