#include "sextant/estimator/hparams.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>

#include "sextant/base/error.h"
#include "sextant/base/nearest_name.h"
#include "sextant/base/parse_number.h"

namespace sextant {
namespace {

using Json = nlohmann::json;
using Value = HParams::Value;

const char* TypeName(const Value& value) {
  static constexpr const char* kNames[] = {
      "a boolean",          "an integer",         "a number",          "a text",
      "a list of booleans", "a list of integers", "a list of numbers", "a list of texts"};
  return kNames[value.index()];
}

template <typename T>
struct ElementOf {
  using Type = void;
};
template <typename T>
struct ElementOf<std::vector<T>> {
  using Type = T;
};
template <typename T>
constexpr bool kIsList = !std::is_void_v<typename ElementOf<T>::Type>;

void Convert(bool from, bool* to) { *to = from; }
void Convert(int64_t from, int64_t* to) { *to = from; }
void Convert(int64_t from, double* to) { *to = static_cast<double>(from); }
void Convert(double from, double* to) { *to = from; }
void Convert(const std::string& from, std::string* to) { *to = from; }

template <typename From, typename To>
concept Convertible = requires(const From& from, To* to) {
  Convert(from, to);
}
&&(std::is_same_v<From, To> || (std::is_same_v<From, int64_t> && std::is_same_v<To, double>));

template <typename T>
std::optional<T> As(const Value& value) {
  return std::visit(
      [](const auto& from) -> std::optional<T> {
        using From = std::decay_t<decltype(from)>;
        if constexpr (kIsList<From> && kIsList<T>) {
          using Element = typename ElementOf<From>::Type;
          if constexpr (Convertible<Element, typename ElementOf<T>::Type>) {
            return T(from.begin(), from.end());
          }
        } else if constexpr (Convertible<From, T>) {
          T to;
          Convert(from, &to);
          return to;
        }
        return std::nullopt;
      },
      value);
}

// Elements from text; false when it is not one.
bool ParseElement(std::string_view text, bool* value) {
  if (text != "true" && text != "True" && text != "1" && text != "false" && text != "False" &&
      text != "0") {
    return false;
  }
  *value = text == "true" || text == "True" || text == "1";
  return true;
}
bool ParseElement(std::string_view text, int64_t* value) { return ParseNumber(text, value); }
bool ParseElement(std::string_view text, double* value) {
  return text.find_first_not_of(' ') != std::string_view::npos && ParseNumber(text, value);
}
bool ParseElement(std::string_view text, std::string* value) {
  *value = text;
  return true;
}

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// One "name=value", "name[i]=value" or "name=[a,b]".
struct Assignment {
  std::string_view name;
  std::optional<int64_t> index;
  bool is_list = false;
  std::vector<std::string_view> elements;
};

[[noreturn]] void ThrowMalformed(std::string_view text) {
  throw InvalidArgument(
      "cannot read the hyper-parameters at '{}'; write name=value,name[1]=value,name=[a,b]", text);
}

Assignment ParseTarget(std::string_view target, std::string_view text) {
  Assignment result{.name = Trimmed(target)};
  const size_t bracket = result.name.find('[');
  if (bracket != std::string_view::npos) {
    int64_t index = -1;
    const std::string_view inside = result.name.substr(bracket + 1);
    if (!inside.ends_with(']') || !ParseNumber(inside.substr(0, inside.size() - 1), &index) ||
        index < 0) {
      ThrowMalformed(text);
    }
    result.index = index;
    result.name = result.name.substr(0, bracket);
  }
  if (result.name.empty()) ThrowMalformed(text);
  return result;
}

void SplitElements(std::string_view list, Assignment& result) {
  if (Trimmed(list).empty()) return;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    result.elements.push_back(Trimmed(list.substr(begin, end - begin)));
    begin = end + 1;
  }
}

std::vector<Assignment> ParseAssignments(std::string_view text) {
  std::vector<Assignment> assignments;
  while (!Trimmed(text).empty()) {
    const std::string_view here = text;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) ThrowMalformed(here);
    Assignment assignment = ParseTarget(text.substr(0, equals), here);
    text.remove_prefix(equals + 1);
    size_t end;
    if (Trimmed(text).starts_with('[')) {
      const size_t open = text.find('['), close = text.find(']');
      if (close == std::string_view::npos || assignment.index) ThrowMalformed(here);
      assignment.is_list = true;
      SplitElements(text.substr(open + 1, close - open - 1), assignment);
      end = std::min(text.find(',', close), text.size());
      if (!Trimmed(text.substr(close + 1, end - close - 1)).empty()) ThrowMalformed(here);
    } else {
      end = std::min(text.find(',', 0), text.size());
      assignment.elements = {Trimmed(text.substr(0, end))};
    }
    text.remove_prefix(std::min(end + 1, text.size()));
    assignments.push_back(std::move(assignment));
  }
  return assignments;
}

template <typename T>
T ParseElementOrThrow(std::string_view name, std::string_view text, const Value& old) {
  T value;
  if (!ParseElement(text, &value)) {
    throw InvalidArgument("hyper-parameter {} is {}; '{}' is not", name, TypeName(old), text);
  }
  return value;
}

void Apply(const Assignment& assignment, Value& value) {
  std::visit(
      [&](auto& old) {
        using T = std::decay_t<decltype(old)>;
        if constexpr (kIsList<T>) {
          using Element = typename T::value_type;
          if (assignment.index) {
            if (*assignment.index >= static_cast<int64_t>(old.size())) {
              throw InvalidArgument("hyper-parameter {} has {} elements, there is no {}[{}]",
                                    assignment.name, old.size(), assignment.name,
                                    *assignment.index);
            }
            old[*assignment.index] =
                ParseElementOrThrow<Element>(assignment.name, assignment.elements[0], value);
            return;
          }
          T list;
          for (const std::string_view element : assignment.elements) {
            list.push_back(ParseElementOrThrow<Element>(assignment.name, element, value));
          }
          old = std::move(list);
        } else {
          if (assignment.is_list || assignment.index) {
            throw InvalidArgument("hyper-parameter {} is {}, not a list", assignment.name,
                                  TypeName(value));
          }
          old = ParseElementOrThrow<T>(assignment.name, assignment.elements[0], value);
        }
      },
      value);
}

template <typename T>
bool FromJson(const Json& json, T* value) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) return false;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    if (!json.is_number_integer()) return false;
  } else if constexpr (std::is_same_v<T, double>) {
    if (!json.is_number()) return false;
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) return false;
  } else {
    if (!json.is_array()) return false;
    T list;
    for (const Json& item : json) {
      typename T::value_type element;
      if (!FromJson(item, &element)) return false;
      list.push_back(std::move(element));
    }
    *value = std::move(list);
    return true;
  }
  if constexpr (!kIsList<T>) *value = json.get<T>();
  return true;
}

std::string NoSuchParameter(const std::map<std::string, Value, std::less<>>& values,
                            std::string_view name) {
  std::vector<std::string> names;
  for (const auto& [other, value] : values) names.push_back(other);
  return fmt::format("there is no hyper-parameter '{}'{}", name, DidYouMeanOneOf(name, names));
}

Value& FindOrThrow(std::map<std::string, Value, std::less<>>& values, std::string_view name) {
  const auto found = values.find(name);
  if (found != values.end()) return found->second;
  throw InvalidArgument("{}", NoSuchParameter(values, name));
}

}  // namespace

template <typename T>
T HParams::Get(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) {
    throw NotFound("{}", NoSuchParameter(values_, name));
  }
  if (std::optional<T> value = As<T>(found->second)) return *std::move(value);
  throw InvalidArgument("hyper-parameter {} is {}, not {}", name, TypeName(found->second),
                        TypeName(Value(T())));
}

template bool HParams::Get<bool>(std::string_view) const;
template int64_t HParams::Get<int64_t>(std::string_view) const;
template double HParams::Get<double>(std::string_view) const;
template std::string HParams::Get<std::string>(std::string_view) const;
template std::vector<bool> HParams::Get<std::vector<bool>>(std::string_view) const;
template std::vector<int64_t> HParams::Get<std::vector<int64_t>>(std::string_view) const;
template std::vector<double> HParams::Get<std::vector<double>>(std::string_view) const;
template std::vector<std::string> HParams::Get<std::vector<std::string>>(std::string_view) const;

void HParams::Set(std::string_view name, Value value) {
  values_.insert_or_assign(std::string(name), std::move(value));
}

void HParams::Parse(std::string_view assignments) {
  auto values = values_;
  for (const Assignment& assignment : ParseAssignments(assignments)) {
    Apply(assignment, FindOrThrow(values, assignment.name));
  }
  values_ = std::move(values);
}

void HParams::ParseJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    throw InvalidArgument(
        "hyper-parameters must be a JSON object like {{\"name\": value}}, not '{}'",
        text.substr(0, 80));
  }
  auto values = values_;
  for (const auto& entry : json.items()) {
    const Json& item = entry.value();
    Value& value = FindOrThrow(values, entry.key());
    if (!std::visit([&](auto& old) { return FromJson(item, &old); }, value)) {
      throw InvalidArgument("hyper-parameter {} is {}; {} is not", entry.key(), TypeName(value),
                            item.dump());
    }
  }
  values_ = std::move(values);
}

std::string HParams::ToJson() const {
  Json json = Json::object();
  for (const auto& [name, value] : values_) {
    Json& item = json[name];
    std::visit([&](const auto& v) { item = v; }, value);
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sextant
