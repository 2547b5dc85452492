#include "sextant/cli/saved_model_inputs.h"

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "sextant/cli/npz.h"
#include "sextant/cli/python_literal.h"
#include "sextant/formats/npy.h"
#include "sextant/proto/example.pb.h"

namespace sextant::cli {
namespace {

using Inputs = std::map<std::string, Tensor>;

// "key=" off the front.
std::string TakeKey(std::string_view* text, std::string_view option, std::string_view form) {
  const size_t equals = text->find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw InvalidArgument("{} '{}' has to read {}", option, *text, form);
  }
  std::string_view key = text->substr(0, equals);
  key.remove_prefix(std::min(key.find_first_not_of(" \n"), key.size()));
  text->remove_prefix(equals + 1);
  return std::string(key);
}

// Calls read(key) at each "key=" of a list separated by semicolons; read takes the value off.
template <typename Read>
void ForEachKey(std::string_view text, const char* option, const char* form, Read read) {
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of("; \n"), text.size()));
    if (text.empty()) return;
    const std::string key = TakeKey(&text, option, form);
    try {
      read(key, &text);
    } catch (const Error& e) {
      throw e.WithPrefix(fmt::format("{} {}: ", option, key));
    }
    text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
    if (!text.empty() && text.front() != ';') {
      throw InvalidArgument("{} {}: expected ';' before '{}'", option, key, text);
    }
  }
}

// "file" or "file[name]".
Tensor ReadArrayFile(std::string_view text) {
  std::string path(text), name;
  const size_t bracket = path.rfind('[');
  if (bracket != std::string::npos && path.ends_with(']')) {
    name = path.substr(bracket + 1, path.size() - bracket - 2);
    path.resize(bracket);
  }
  if (path.empty()) throw InvalidArgument("no file is named");
  const std::string head = FileSystem::ForPath(path).ReadFile(path).substr(0, 4);
  if (!IsZip(head)) {
    if (!name.empty()) LogWarning("{} holds one array; the name '{}' is ignored", path, name);
    return ReadNpy(path);
  }
  Inputs arrays = ReadNpz(path);
  if (name.empty() && arrays.size() == 1) return arrays.begin()->second;
  std::string names;
  for (const auto& [known, array] : arrays) names += (names.empty() ? "" : ", ") + known;
  if (name.empty()) throw InvalidArgument("{} holds several arrays; name one of: {}", path, names);
  const auto array = arrays.find(name);
  if (array == arrays.end()) {
    throw InvalidArgument("{} holds no array '{}'; there are: {}", path, name, names);
  }
  return array->second;
}

void FillFeature(const std::string& name, const PythonLiteral& value, proto::Feature* feature) {
  const auto* list = std::get_if<std::shared_ptr<PythonList>>(&value);
  if (list == nullptr) {
    throw InvalidArgument("the feature '{}' is {}, not a list", name, KindName(value));
  }
  if ((*list)->items.empty()) throw InvalidArgument("the feature '{}' is an empty list", name);
  // The first item decides the kind, as in TensorFlow.
  const PythonLiteral& first = (*list)->items[0];
  for (const PythonLiteral& item : (*list)->items) {
    const bool integral =
        std::holds_alternative<double>(first) && std::holds_alternative<int64_t>(item);
    if (item.index() != first.index() && !integral) {
      throw InvalidArgument("the feature '{}' mixes {} and {}", name, KindName(first),
                            KindName(item));
    }
    if (const auto* text = std::get_if<std::string>(&item)) {
      feature->mutable_bytes_list()->add_value(*text);
    } else if (integral) {
      feature->mutable_float_list()->add_value(static_cast<float>(std::get<int64_t>(item)));
    } else if (const auto* real = std::get_if<double>(&item)) {
      feature->mutable_float_list()->add_value(static_cast<float>(*real));
    } else if (const auto* integer = std::get_if<int64_t>(&item)) {
      feature->mutable_int64_list()->add_value(*integer);
    } else if (const auto* flag = std::get_if<bool>(&item)) {
      feature->mutable_int64_list()->add_value(*flag ? 1 : 0);
    } else {
      throw InvalidArgument("the feature '{}' holds {}; it may hold numbers or strings", name,
                            KindName(item));
    }
  }
}

// [{'age': [40], 'name': ['x']}, ...] as serialised Examples.
Tensor Examples(const PythonLiteral& value) {
  const auto* list = std::get_if<std::shared_ptr<PythonList>>(&value);
  if (list == nullptr) {
    throw InvalidArgument("expected a list of dictionaries, not {}", KindName(value));
  }
  std::vector<std::string> records;
  for (const PythonLiteral& item : (*list)->items) {
    const auto* features = std::get_if<std::shared_ptr<PythonDict>>(&item);
    if (features == nullptr) {
      throw InvalidArgument("expected a list of dictionaries, not one of {}", KindName(item));
    }
    proto::Example example;
    for (const auto& [name, feature] : (*features)->items) {
      FillFeature(name, feature, &(*example.mutable_features()->mutable_feature())[name]);
    }
    records.push_back(example.SerializeAsString());
  }
  return Tensor::FromVector(records);
}

}  // namespace

std::map<std::string, Tensor> ReadInputs(const InputTexts& texts) {
  Inputs inputs;
  const auto set = [&](const char* option, const std::string& key, Tensor value) {
    if (inputs.contains(key)) LogWarning("input '{}' is given twice; {} is used", key, option);
    inputs[key] = std::move(value);
  };
  ForEachKey(texts.files, "--inputs", "KEY=FILE or KEY=FILE[NAME]",
             [&](const std::string& key, std::string_view* text) {
               const std::string_view file = text->substr(0, text->find(';'));
               set("--inputs", key, ReadArrayFile(file));
               text->remove_prefix(file.size());
             });
  ForEachKey(texts.expressions, "--input_exprs", "KEY=VALUE",
             [&](const std::string& key, std::string_view* text) {
               set("--input_exprs", key, ArrayOf(TakePythonLiteral(text)));
             });
  ForEachKey(texts.examples, "--input_examples", "KEY=[{'FEATURE': [VALUE, ...], ...}, ...]",
             [&](const std::string& key, std::string_view* text) {
               set("--input_examples", key, Examples(TakePythonLiteral(text)));
             });
  return inputs;
}

}  // namespace sextant::cli
