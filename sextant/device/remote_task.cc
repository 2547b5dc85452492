#include "sextant/device/remote_task.h"

#include <algorithm>

#include "sextant/graph/device_name.h"

namespace sextant {

SEXTANT_API std::string ShortTaskName(std::string_view task) {
  DeviceName name = DeviceName::Parse(task);
  name.replica.reset();
  name.type.clear();
  name.index.reset();
  return name.ToString();
}

SEXTANT_API std::string InputOfContribution(const std::string& tensor, int contribution) {
  if (contribution == 0) return tensor;
  const size_t end = std::min(tensor.find(':'), tensor.size());
  return fmt::format("{}_of_{}{}", tensor.substr(0, end), contribution, tensor.substr(end));
}

SEXTANT_API Error ErrorOfTask(const Error& error, std::string_view task) {
  const std::string& message = error.message();
  const std::string place = "on " + ShortTaskName(task) + ": ";
  const size_t end = message.starts_with('[') ? message.find("] ") : std::string::npos;
  if (end == std::string::npos) return error.WithPrefix(place);
  return Error(error.code(), message.substr(0, end + 2) + place + message.substr(end + 2));
}

SEXTANT_API Error RestartedError(const Fragment& fragment) {
  std::string lost;
  for (const std::string& name : fragment.variables) lost += (lost.empty() ? "" : ", ") + name;
  const std::string task = ShortTaskName(fragment.task);
  if (lost.empty()) {
    return Error(Code::kAborted, task +
                                     " was restarted: what the session had there, as tables and "
                                     "random streams, is gone");
  }
  return Error(Code::kAborted, fmt::format("{} was restarted and its variables are gone, {} among "
                                           "them: initialise or restore them in a new session",
                                           task, lost));
}

}  // namespace sextant
