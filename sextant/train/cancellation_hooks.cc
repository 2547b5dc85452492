#include "sextant/train/cancellation_hooks.h"

#include "sextant/base/error.h"
#include "sextant/device/resource_manager.h"
#include "sextant/graph/graph.h"
#include "sextant/ops/dataset/iterator_resource.h"
#include "sextant/train/own_resources.h"

namespace sextant::train {
namespace {

class StopOnCancelHook : public Hook {
 public:
  explicit StopOnCancelHook(std::shared_ptr<CancellationToken> token) : token_(std::move(token)) {}
  void AfterRun(RunContext& run) override {
    if (token_->cancelled()) run.RequestStop();
  }

 private:
  const std::shared_ptr<CancellationToken> token_;
};

class AwaitInputHook : public Hook {
 public:
  AwaitInputHook(Output iterator, AwaitInputOptions options)
      : iterator_(iterator),
        options_(std::move(options)),
        token_(options_.token ? options_.token : std::make_shared<CancellationToken>()) {}
  void AfterCreateSession(Session& session) override {
    session.Run(Operation(iterator_));  // makes the resource
    const Node& node = *iterator_.node();
    std::string name = node.attr<std::string>("shared_name");
    if (name.empty()) name = node.name();
    resource_ = session.resources().Lookup<IteratorResource>(IteratorResource::kContainer, name);
    if (!resource_) {
      ThrowIfOfAnotherTask(session, node);
      throw InvalidArgument("{} is not an iterator", iterator_.name());
    }
    if (options_.begin_ended_anew && !Await()) resource_->BeginAnew();
    if (!options_.refuse_unusable) return;
    if (!Await()) throw InvalidArgument("the training input gave no batch; is the data empty?");
    resource_->AwaitedError().ThrowIfError();
  }
  void BeforeRun(RunContext&) override { Await(); }

 private:
  bool Await() { return resource_->Await(options_.elements, *token_); }

  const Output iterator_;
  const AwaitInputOptions options_;
  const std::shared_ptr<CancellationToken> token_;
  std::shared_ptr<IteratorResource> resource_;
};

}  // namespace

HookRef StopOnCancel(std::shared_ptr<CancellationToken> token) {
  return std::make_shared<StopOnCancelHook>(std::move(token));
}

HookRef AwaitInput(Output iterator, AwaitInputOptions options) {
  return std::make_shared<AwaitInputHook>(iterator, std::move(options));
}

}  // namespace sextant::train
