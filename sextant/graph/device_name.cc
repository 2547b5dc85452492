#include "sextant/graph/device_name.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "sextant/base/error.h"

namespace sextant {
namespace {

bool IsName(std::string_view text) {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c < 128 && (std::isalnum(c) || c == '_'); });
}

// "*" is any; false when the text is neither that nor a number.
bool ParseNumber(std::string_view text, std::optional<int>* number) {
  if (text == "*") {
    number->reset();
    return true;
  }
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return false;
  *number = value;
  return true;
}

// "GPU0": the colon is missing.
bool EndsInIndex(std::string_view upper) {
  return (upper.starts_with("CPU") || upper.starts_with("GPU")) && upper.size() > 3 &&
         std::all_of(upper.begin() + 3, upper.end(),
                     [](unsigned char c) { return std::isdigit(c); });
}

// "GPU:1", "GPU", "GPU:*", "*".
bool ParseDevice(std::string_view text, DeviceName* name) {
  const size_t colon = text.find(':');
  const std::string_view type = text.substr(0, colon);
  if (type == "*") {
    name->type.clear();
  } else if (IsName(type)) {
    name->type = type;
    std::string upper(type);
    std::transform(upper.begin(), upper.end(), upper.begin(), ::toupper);
    if (EndsInIndex(upper)) return false;
    if (upper == "CPU" || upper == "GPU") name->type = upper;
  } else {
    return false;
  }
  if (colon == std::string_view::npos) {
    name->index.reset();
    return true;
  }
  return ParseNumber(text.substr(colon + 1), &name->index);
}

// Without a slash: "CPU:0", and no other part.
bool ParseBareDevice(std::string_view text, DeviceName* name) {
  const std::string_view type = text.substr(0, text.find(':'));
  for (const std::string_view part : {"job", "replica", "task", "device"}) {
    if (type == part) return false;
  }
  return type != text && text.find('/') == text.npos && ParseDevice(text, name);
}

bool ParsePart(std::string_view part, DeviceName* name) {
  const size_t colon = part.find(':');
  const std::string_view key = part.substr(0, colon);
  const std::string_view value = colon == part.npos ? std::string_view() : part.substr(colon + 1);
  if (key == "job") {
    name->job = value == "*" ? "" : value;
    return value == "*" || IsName(value);
  }
  if (key == "replica") return ParseNumber(value, &name->replica);
  if (key == "task") return ParseNumber(value, &name->task);
  if (key == "device") return ParseDevice(value, name);
  const bool legacy = key == "cpu" || key == "CPU" || key == "gpu" || key == "GPU";
  return legacy && ParseDevice(part, name);
}

}  // namespace

DeviceName DeviceName::Parse(std::string_view text) {
  DeviceName name;
  if (text.empty() || text == "/") return name;
  bool valid = true;
  if (text[0] != '/') valid = ParseBareDevice(text, &name);
  for (size_t begin = 0; valid && text[0] == '/' && begin < text.size();) {
    const size_t end = std::min(text.find('/', begin + 1), text.size());
    valid = ParsePart(text.substr(begin + 1, end - begin - 1), &name);
    begin = end;
  }
  if (!valid) {
    throw InvalidArgument(
        "'{}' is not a device name: expected parts like /job:worker /replica:0 /task:1 "
        "/device:GPU:0 or /cpu:0",
        text);
  }
  return name;
}

std::string DeviceName::ToString() const {
  std::string text;
  if (!job.empty()) text += "/job:" + job;
  if (replica) text += fmt::format("/replica:{}", *replica);
  if (task) text += fmt::format("/task:{}", *task);
  if (!type.empty() || index) {
    text += fmt::format("/device:{}:{}", type.empty() ? "*" : type,
                        index ? std::to_string(*index) : "*");
  }
  return text;
}

DeviceName DeviceName::Override(const DeviceName& inner) const {
  DeviceName merged = *this;
  if (!inner.job.empty()) merged.job = inner.job;
  if (inner.replica) merged.replica = inner.replica;
  if (inner.task) merged.task = inner.task;
  if (!inner.type.empty()) merged.type = inner.type;
  if (inner.index) merged.index = inner.index;
  return merged;
}

bool DeviceName::Matches(const DeviceName& pattern) const {
  return (pattern.job.empty() || pattern.job == job) &&
         (!pattern.replica || pattern.replica == replica) &&
         (!pattern.task || pattern.task == task) &&
         (pattern.type.empty() || pattern.type == type) &&
         (!pattern.index || pattern.index == index);
}

}  // namespace sextant
