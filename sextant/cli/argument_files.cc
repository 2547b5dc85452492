#include "sextant/cli/argument_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/utf8.h"

namespace sextant::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;
constexpr int kMostNested = 10;

std::string ReadFile(const std::string& path) {
  return std::string(WithoutByteOrderMark(FileSystem::ForPath(path).ReadFile(path)));
}

std::string FlagText(const OrderedJson& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void AddJson(const std::string& path, std::vector<std::string>& arguments) {
  const OrderedJson json = OrderedJson::parse(ReadFile(path), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    throw InvalidArgument("{} is no JSON object like {{\"train_steps\": 1000}}", path);
  }
  for (const auto& [name, value] : json.items()) {
    const std::string flag = "--" + name + "=";
    const auto is_plain = [](const OrderedJson& v) { return v.is_primitive() && !v.is_null(); };
    if (is_plain(value)) {
      arguments.push_back(flag + FlagText(value));
      continue;
    }
    if (!value.is_array() || !std::all_of(value.begin(), value.end(), is_plain)) {
      throw InvalidArgument(
          "\"{}\" in {} is neither a number, a text, a boolean nor a list of them", name, path);
    }
    const bool texts = !value.empty() && value[0].is_string();
    std::string joined;
    for (const OrderedJson& item : value) {
      if (texts) arguments.push_back(flag + FlagText(item));
      joined += (joined.empty() ? "" : ",") + FlagText(item);
    }
    if (!texts) arguments.push_back(flag + joined);
  }
}

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

void AddFlagFile(const std::string& path, int depth, std::vector<std::string>& arguments) {
  if (depth > kMostNested) {
    throw InvalidArgument("flag files are nested more than {} deep at {}", kMostNested, path);
  }
  const std::string text = ReadFile(path);
  int number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = Trimmed(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    if (!line.starts_with("--")) {
      throw InvalidArgument("{}, line {}, is no flag: it must begin with --", path, number);
    }
    const size_t space = std::min(line.find_first_of(" \t="), line.size());
    std::string flag(line.substr(0, space));
    const std::string value(space == line.size() ? "" : Trimmed(line.substr(space + 1)));
    if (flag == "--flagfile") {
      if (value.empty()) {
        throw InvalidArgument("{}, line {}: --flagfile is empty; give it a file", path, number);
      }
      AddFlagFile(value, depth + 1, arguments);
      continue;
    }
    arguments.push_back(space == line.size() ? flag : flag + "=" + value);
  }
}

// Takes "--name value" and "--name=value" out of the arguments, in order.
std::vector<std::string> TakeOut(const std::string& name, std::vector<std::string>& arguments) {
  std::vector<std::string> values, rest;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--") {
      rest.insert(rest.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
      break;
    }
    if (arguments[i].starts_with(name + "=")) {
      values.push_back(arguments[i].substr(name.size() + 1));
    } else if (arguments[i] == name) {
      if (i + 1 == arguments.size()) throw InvalidArgument("{} needs a file", name);
      values.push_back(arguments[++i]);
    } else {
      rest.push_back(arguments[i]);
    }
  }
  if (std::find(values.begin(), values.end(), "") != values.end()) {
    throw InvalidArgument("{} is empty; give it a file or leave it out", name);
  }
  arguments = std::move(rest);
  return values;
}

}  // namespace

void ExpandArgumentFiles(std::vector<std::string>& arguments) {
  std::vector<std::string> from_files;
  const std::vector<std::string> configs = TakeOut("--config", arguments);
  for (const std::string& path : configs) AddJson(path, from_files);
  for (const std::string& path : TakeOut("--flagfile", arguments)) {
    AddFlagFile(path, 1, from_files);
  }
  arguments.insert(arguments.begin(), from_files.begin(), from_files.end());
}

}  // namespace sextant::cli
