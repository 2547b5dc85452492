#include "sextant/nn/features.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sextant/base/error.h"

namespace sextant {

const Features::Value* Features::Find(std::string_view name) const {
  for (const auto& [key, value] : fields_) {
    if (key == name) return &value;
  }
  return nullptr;
}

const Features::Value& Features::Get(std::string_view name) const {
  if (const Value* value = Find(name)) return *value;
  std::vector<std::string> names;
  for (const auto& [key, value] : fields_) names.push_back(key);
  throw NotFound("there is no feature '{}'; there are: {}", name, fmt::join(names, ", "));
}

Output Features::operator[](std::string_view name) const {
  const Value& value = Get(name);
  if (const Output* dense = std::get_if<Output>(&value)) return *dense;
  throw InvalidArgument("feature '{}' is sparse; read it with Get or through a feature column",
                        name);
}

Output Features::only() const {
  if (fields_.size() != 1) {
    throw InvalidArgument("one feature is expected, there are {}", fields_.size());
  }
  return (*this)[fields_[0].first];
}

void Features::Set(std::string_view name, Value value) {
  for (auto& [key, old] : fields_) {
    if (key == name) {
      old = value;
      return;
    }
  }
  fields_.emplace_back(name, value);
}

}  // namespace sextant
