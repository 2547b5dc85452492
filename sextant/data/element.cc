#include "sextant/data/element.h"

#include <algorithm>

#include "sextant/base/error.h"

namespace sextant::data {

const Tensor* Element::Find(std::string_view name) const {
  const auto found = std::ranges::find(fields_, name, &Field::first);
  return found == fields_.end() ? nullptr : &found->second;
}

const Tensor& Element::operator[](std::string_view name) const {
  if (const Tensor* tensor = Find(name)) return *tensor;
  throw NotFound("the element has no field \"{}\"; it has {}", name,
                 fields_.empty() ? "none" : Describe());
}

Tensor& Element::operator[](std::string_view name) {
  return const_cast<Tensor&>(std::as_const(*this)[name]);
}

void Element::Set(std::string_view name, Tensor value) {
  const auto found = std::ranges::find(fields_, name, &Field::first);
  if (found != fields_.end()) {
    found->second = std::move(value);
  } else {
    fields_.emplace_back(name, std::move(value));
  }
}

bool Element::Erase(std::string_view name) {
  return std::erase_if(fields_, [&](const Field& field) { return field.first == name; }) > 0;
}

bool Element::Identical(const Element& other) const {
  return std::ranges::equal(fields_, other.fields_, [](const Field& a, const Field& b) {
    return a.first == b.first && a.second.Identical(b.second);
  });
}

std::string Element::Describe() const {
  std::string text;
  for (const auto& [name, tensor] : fields_) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, tensor.Describe());
  }
  return text;
}

}  // namespace sextant::data
