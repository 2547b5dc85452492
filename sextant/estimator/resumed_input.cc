#include "sextant/estimator/resumed_input.h"

#include "sextant/base/error.h"
#include "sextant/device/resource_manager.h"
#include "sextant/ops/dataset/iterator_resource.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

class CheckResumedInputHook : public train::Hook {
 public:
  CheckResumedInputHook(const ModelGraph& model, std::shared_ptr<CancellationToken> token)
      : model_(model), token_(token ? std::move(token) : std::make_shared<CancellationToken>()) {}

  void AfterCreateSession(Session& session) override {
    const Node& node = *model_.input_iterator.node();
    std::string name = node.attr<std::string>("shared_name");
    if (name.empty()) name = node.name();
    const auto iterator =
        session.resources().Lookup<IteratorResource>(IteratorResource::kContainer, name);
    if (!iterator) throw Internal("the iterator {} of the training input was not made", name);
    if (iterator->Await(model_.batches_of_step, *token_)) {
      iterator->AwaitedError().ThrowIfError();
    } else if (!HasBatch()) {
      ThrowNoBatch();
    }
  }

 private:
  // Whether the data is at its end because it was read, not because there is none.
  bool HasBatch() const {
    const std::unique_ptr<data::Iterator> anew = model_.input.MakeIterator();
    const auto registration = token_->OnCancel([&] { anew->Cancel(); });
    data::Element batch;
    try {
      return anew->Next(&batch);
    } catch (const Error&) {
      token_->ThrowIfCancelled();
      return true;  // there is one, which is not read again
    }
  }

  const ModelGraph& model_;
  const std::shared_ptr<CancellationToken> token_;
};

}  // namespace

train::HookRef CheckResumedInput(const ModelGraph& model,
                                 std::shared_ptr<CancellationToken> token) {
  return std::make_shared<CheckResumedInputHook>(model, std::move(token));
}

void ThrowNoBatch() {
  throw InvalidArgument("the training input gave no batch; is the data empty?");
}

}  // namespace sextant
