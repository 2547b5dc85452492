#include "sextant/train/own_resources.h"

#include "sextant/base/error.h"
#include "sextant/device/device.h"

namespace sextant::train {

void ThrowIfOfAnotherTask(const Session& session, const Node& maker) {
  if (maker.device().empty()) return;
  DeviceName task = DeviceName::Parse(maker.device());
  task.type.clear();
  task.index.reset();
  const Device& own = *session.devices()[0];
  if (own.parsed_name().Matches(task)) return;
  throw FailedPrecondition(
      "[{} {}] is on '{}', and only what {} holds can be used in place: save a checkpoint and use "
      "that",
      maker.type(), maker.name(), maker.device(), own.name());
}

}  // namespace sextant::train
