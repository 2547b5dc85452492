#include "tests/conformance/saved_model_cases.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/cli/saved_model_show.h"
#include "sextant/formats/saved_model_dir.h"
#include "sextant/proto/saved_model.pb.h"
#include "sextant/runtime/saved_model.h"
#include "tests/conformance/json_values.h"

namespace sextant::conformance {
namespace {

using nlohmann::json;

DType DTypeFromPython(const std::string& name) {
  if (name == "float32") return DType::kFloat;
  if (name == "float64") return DType::kDouble;
  if (name == "float16") return DType::kHalf;
  return DTypeFromName(name);
}

Tensor TensorFromJson(const json& entry) {
  const DType dtype = DTypeFromPython(entry.at("dtype"));
  const json& values = entry.at("values");
  Tensor tensor(dtype, Shape(entry.at("shape").get<std::vector<int64_t>>()));
  if (static_cast<int64_t>(values.size()) != tensor.num_elements()) {
    throw DataLoss("{} values for {}", values.size(), tensor.Describe());
  }
  const auto fill = [&]<typename T>(T) {
    for (size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_same_v<T, std::string>) {
        tensor.data<T>()[i] = JsonBytes(values[i]);
      } else if constexpr (std::is_floating_point_v<T>) {
        tensor.data<T>()[i] = static_cast<T>(JsonNumber(values[i]));
      } else if constexpr (std::is_same_v<T, bool>) {
        tensor.data<T>()[i] = values[i].is_boolean() ? values[i].get<bool>() : values[i] != 0;
      } else {
        tensor.data<T>()[i] = values[i].get<T>();
      }
    }
  };
  switch (dtype) {
    case DType::kFloat:
      fill(float());
      break;
    case DType::kDouble:
      fill(double());
      break;
    case DType::kInt32:
      fill(int32_t());
      break;
    case DType::kInt64:
      fill(int64_t());
      break;
    case DType::kUInt8:
      fill(uint8_t());
      break;
    case DType::kBool:
      fill(bool());
      break;
    case DType::kString:
      fill(std::string());
      break;
    default:
      throw Unimplemented("arrays of {} in answers", entry.at("dtype").get<std::string>());
  }
  return tensor;
}

NamedTensors TensorsFromJson(const json& entries) {
  NamedTensors tensors;
  for (const auto& [key, entry] : entries.items()) tensors[key] = TensorFromJson(entry);
  return tensors;
}

std::string OutputDifference(const NamedTensors& actual, const NamedTensors& expected,
                             const Tolerance& tolerance) {
  for (const auto& [key, value] : expected) {
    const auto found = actual.find(key);
    if (found == actual.end()) return fmt::format("there is no output '{}'", key);
    const std::string difference = Difference(found->second, value, tolerance);
    if (!difference.empty()) return fmt::format("output '{}': {}", key, difference);
  }
  if (actual.size() != expected.size()) {
    return fmt::format("{} outputs, expected {}", actual.size(), expected.size());
  }
  return "";
}

// The names in the braces at the end of the line of ops; of other lines nothing.
std::set<std::string> TakeOps(std::string* line) {
  std::set<std::string> ops;
  const size_t brace = line->find('{');
  if (!line->starts_with("The MetaGraph with tag set ") || brace == std::string::npos) return ops;
  std::string names = line->substr(brace + 1);
  line->resize(brace);
  while (!names.empty()) {
    const size_t end = std::min(names.find_first_of(",}"), names.size());
    ops.insert(names.substr(0, end));
    names.erase(0, std::min(names.find_first_not_of(",} ", end), names.size()));
  }
  return ops;
}

std::string TextDifference(std::string_view actual, std::string_view expected) {
  const auto take_line = [](std::string_view* text) {
    const size_t end = std::min(text->find('\n'), text->size());
    std::string line(text->substr(0, end));
    text->remove_prefix(std::min(end + 1, text->size()));
    return line;
  };
  for (int number = 1; !actual.empty() || !expected.empty(); ++number) {
    std::string a = take_line(&actual), e = take_line(&expected);
    const std::set<std::string> actual_ops = TakeOps(&a), expected_ops = TakeOps(&e);
    if (a != e) return fmt::format("line {} is '{}', expected '{}'", number, a, e);
    if (actual_ops != expected_ops) return fmt::format("the ops of line {} differ", number);
  }
  return "";
}

// One model with its answers.
class RecordedModel {
 public:
  RecordedModel(std::string model, const std::string& answers, std::string show)
      : model_(std::move(model)), show_(std::move(show)), answers_(ReadJson(answers)) {}

  void Run(Counts& counts) const {
    if (FileSystem::ForPath(show_).Exists(show_)) {
      Try(model_, "description", "show", counts, [&] {
        return TextDifference(cli::ShowAllText(ReadSavedModel(model_)),
                              FileSystem::ForPath(show_).ReadFile(show_));
      });
    }
    std::unique_ptr<SavedModel> loaded;
    Try(model_, "model", "load", counts, [&] {
      loaded = std::make_unique<SavedModel>(
          SavedModel::Load(model_, answers_.at("tags").get<std::set<std::string>>()));
      return "";
    });
    if (loaded == nullptr) return;
    for (const auto& entry : answers_.at("signatures").items()) {
      const json& signature = entry.value();
      int number = 0;
      for (const json& recorded : signature.at("cases")) {
        Try(model_, entry.key(), fmt::format("case {}", number++).c_str(), counts,
            [&] { return RunCase(loaded->signature(entry.key()), signature, recorded); });
      }
    }
  }

 private:
  std::string RunCase(const Signature& signature, const json& entry, const json& recorded) const {
    if (signature.method_name() != entry.at("method_name").get<std::string>()) {
      return fmt::format("the method is '{}'", signature.method_name());
    }
    const bool deep = BaseName(model_).starts_with("resnet");  // rounding adds up over layers
    const Tolerance tolerance{deep ? 1e-3 : 1e-4, deep ? 1e-3 : 1e-4};
    return OutputDifference(signature.Run(TensorsFromJson(recorded.at("inputs"))),
                            TensorsFromJson(recorded.at("outputs")), tolerance);
  }

  const std::string model_, show_;
  const json answers_;
};

void RunBelow(const std::string& directory, const std::string& filter, Counts& counts) {
  FileSystem& files = FileSystem::ForPath(directory);
  constexpr std::string_view kAnswers = ".answers.json";
  for (const std::string& name : files.ListDirectory(directory)) {
    const std::string path = JoinPath(directory, name);
    std::string model, show;
    if (name == "answers.json") {
      model = directory;
      show = JoinPath(directory, "show.txt");
    } else if (name.ends_with(kAnswers)) {
      model = path.substr(0, path.size() - kAnswers.size());
      show = model + ".show.txt";
    } else if (files.Stat(path).is_directory) {
      RunBelow(path, filter, counts);
      continue;
    } else {
      continue;
    }
    if (model.find(filter) == std::string::npos) continue;
    RecordedModel(model, path, show).Run(counts);
  }
}

}  // namespace

Counts RunSavedModelCases(const std::string& directory, const std::string& filter) {
  Counts counts;
  FileSystem& files = FileSystem::ForPath(directory);
  const std::string answers = directory + ".answers.json";
  if (files.Exists(answers)) {
    RecordedModel(directory, answers, directory + ".show.txt").Run(counts);
  } else {
    RunBelow(directory, filter, counts);
  }
  if (counts.passed + counts.failed == 0) {
    fmt::print("FAILED {}: no answers.json below it\n", directory);
    ++counts.failed;
  }
  return counts;
}

}  // namespace sextant::conformance
