#include "boilerplate/hooks/hooks_helper.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>

#include "boilerplate/hooks/metric_hook.h"
#include "boilerplate/hooks/throughput_hook.h"
#include "boilerplate/models/model_fn.h"

namespace sx = sextant;

namespace boilerplate {
namespace {

// Looks the tensors up when the graph is there, then does what LogTensors does.
class LoggingTensorHook : public sx::train::Hook {
 public:
  void Begin() override {
    std::vector<std::pair<std::string, sx::Output>> tensors;
    for (const char* name : kLoggedTensors) tensors.emplace_back(name, TensorByName(name));
    log_ = sx::train::LogTensors(tensors, {.steps = 100});
    log_->Begin();
  }
  void AfterCreateSession(sx::Session& session) override { log_->AfterCreateSession(session); }
  void BeforeRun(sx::train::RunContext& run) override { log_->BeforeRun(run); }
  void AfterRun(sx::train::RunContext& run) override { log_->AfterRun(run); }
  void End(sx::Session& session) override { log_->End(session); }

 private:
  sx::train::HookRef log_;
};

using Make = std::function<sx::train::HookRef(const HookContext&)>;

const std::map<std::string, Make>& Hooks() {
  static const std::map<std::string, Make> hooks = {
      {"ExamplesPerSecondHook",
       [](const HookContext& context) {
         return MakeThroughputHook(context.batch_size, context.logger);
       }},
      {"LoggingMetricHook",
       [](const HookContext& context) { return MakeMetricHook(context.logger); }},
      {"LoggingTensorHook",
       [](const HookContext&) { return std::make_shared<LoggingTensorHook>(); }},
      {"ProfilerHook", [](const HookContext& context) {
         return sx::train::ProfileSteps(context.model_dir, {.steps = 1000});
       }}};
  return hooks;
}

bool SameLetters(const std::string& a, const std::string& b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// The names between commas.
std::vector<std::string> Separate(const std::vector<std::string>& lists) {
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
      end = list.find(',', begin);
      names.push_back(list.substr(begin, end == std::string::npos ? end : end - begin));
    }
  }
  return names;
}

}  // namespace

std::vector<sx::train::HookRef> GetTrainHooks(const std::vector<std::string>& names,
                                              const HookContext& context) {
  std::vector<sx::train::HookRef> hooks;
  for (const std::string& name : Separate(names)) {
    const auto found = std::ranges::find_if(
        Hooks(), [&](const auto& hook) { return SameLetters(hook.first, name); });
    if (found == Hooks().end()) {
      std::vector<std::string> known;
      for (const auto& [hook, make] : Hooks()) known.push_back(hook);
      throw sx::InvalidArgument("there is no hook '{}'; there are {}", name,
                                fmt::join(known, ", "));
    }
    hooks.push_back(found->second(context));
  }
  return hooks;
}

sx::Output TensorByName(const std::string& node) {
  sx::Node* const found = sx::CurrentGraph().FindNode(node);
  if (found == nullptr) throw sx::NotFound("the model has no node {} to log", node);
  return {found, 0};
}

}  // namespace boilerplate
