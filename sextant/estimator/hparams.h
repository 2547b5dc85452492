// HParams: the hyper-parameters of a model by name: booleans, integers, numbers, texts and lists of
// them.
//
//   HParams params{{"learning_rate", 0.1}, {"hidden_units", std::vector<int64_t>{100, 50}}};
//   params.Parse("learning_rate=0.05,hidden_units=[64,32]");
//   params.Get<double>("learning_rate")
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant {

class SEXTANT_API HParams {
 public:
  using Value = std::variant<bool, int64_t, double, std::string, std::vector<bool>,
                             std::vector<int64_t>, std::vector<double>, std::vector<std::string>>;

  HParams() = default;
  HParams(std::initializer_list<std::pair<const std::string, Value>> values) : values_(values) {}

  bool Has(std::string_view name) const { return values_.contains(name); }
  // Throws NOT_FOUND, naming the parameters there are, and INVALID_ARGUMENT for another type.
  // An integer is taken for a double too.
  template <typename T>
  T Get(std::string_view name) const;
  template <typename T>
  T Get(std::string_view name, T otherwise) const {
    return Has(name) ? Get<T>(name) : otherwise;
  }
  // Adds or replaces.
  void Set(std::string_view name, Value value);
  // "name=value,name[1]=value,name=[a,b]": changes parameters that are there, keeping their types.
  // Throws INVALID_ARGUMENT for an unknown name or a value of another type; then nothing is
  // changed.
  void Parse(std::string_view assignments);
  // A JSON object of parameters that are there.
  void ParseJson(std::string_view json);
  std::string ToJson() const;

  const std::map<std::string, Value, std::less<>>& values() const { return values_; }

 private:
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace sextant

#pragma GCC visibility pop
