#include "sextant/cli/saved_model_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "sextant/cli/python_value.h"
#include "sextant/proto/meta_graph.pb.h"

namespace sextant::cli {
namespace {

using proto::FunctionDef;
using proto::FunctionDefLibrary;
using proto::SavedObjectGraph;
using proto::StructuredValue;

// TensorFlow numbers functions anew when it loads them, callees first, and sorts the variants of a
// function by these numbers. This is the order in which it comes to them.
class LoadingOrder {
 public:
  explicit LoadingOrder(const FunctionDefLibrary& library) {
    std::set<std::string> known;
    for (const FunctionDef& function : library.function())
      known.insert(function.signature().name());
    std::unordered_map<std::string, std::vector<std::string>> callers;
    std::unordered_map<std::string, int> missing;
    std::vector<std::string> ready;
    for (const FunctionDef& function : library.function()) {
      const std::string& name = function.signature().name();
      const std::set<std::string> callees = Callees(function, known);
      for (const std::string& callee : callees) callers[callee].push_back(name);
      missing[name] = static_cast<int>(callees.size());
      if (callees.empty()) ready.push_back(name);
    }
    while (!ready.empty()) {
      const std::string name = std::move(ready.back());
      ready.pop_back();
      positions_.emplace(name, static_cast<int>(positions_.size()));
      for (const std::string& caller : callers[name]) {
        if (--missing[caller] == 0) ready.push_back(caller);
      }
    }
  }

  bool Before(const std::string& a, const std::string& b) const {
    return std::pair(CleanName(a), Position(a)) < std::pair(CleanName(b), Position(b));
  }

 private:
  static std::set<std::string> Callees(const FunctionDef& function,
                                       const std::set<std::string>& known) {
    std::set<std::string> callees;
    const auto add = [&](const std::string& name) {
      if (known.contains(name)) callees.insert(name);
    };
    for (const proto::NodeDef& node : function.node_def()) {
      add(node.op());
      for (const auto& [name, attr] : node.attr()) {
        add(attr.func().name());
        for (const auto& callee : attr.list().func()) add(callee.name());
      }
    }
    return callees;
  }
  // "__inference_NAME_123" → "NAME"
  static std::string CleanName(const std::string& name) {
    constexpr std::string_view kPrefix = "__inference_";
    const size_t digits = name.find_last_not_of("0123456789");
    if (!name.starts_with(kPrefix) || digits == std::string::npos || digits + 1 == name.size() ||
        name[digits] != '_' || digits < kPrefix.size()) {
      return name;
    }
    return name.substr(kPrefix.size(), digits - kPrefix.size());
  }
  int Position(const std::string& name) const {
    const auto found = positions_.find(name);
    return found == positions_.end() ? -1 : found->second;
  }

  std::unordered_map<std::string, int> positions_;
};

std::string Quoted(const StructuredValue& value) {
  return value.has_string_value() ? "'" + value.string_value() + "'" : PythonStr(value);
}

// The items of a list or the like and, below, of a dictionary; TensorFlow prints two backspaces
// after the last separator.
template <typename Values>
std::string ItemsText(const Values& values) {
  std::string text;
  for (const StructuredValue& value : values) text += Quoted(value) + ", ";
  return text;
}

constexpr const char* kIndent = "        ";

std::string ArgumentText(const StructuredValue& value) {
  const auto with_type = [&](const std::string& text) {
    return fmt::format("{0}  DType: {1}\n{0}  Value: {2}\n", kIndent, PythonTypeName(value), text);
  };
  switch (value.kind_case()) {
    case StructuredValue::kStringValue:
      return fmt::format("{}  {}\n", kIndent, value.string_value());
    case StructuredValue::kTensorSpecValue: {
      const auto& spec = value.tensor_spec_value();
      return fmt::format("{}  {}: {}\n", kIndent, spec.name().empty() ? "None" : spec.name(),
                         PythonRepr(spec));
    }
    case StructuredValue::kListValue:
      return with_type("[" + ItemsText(value.list_value().values()) + "\b\b]");
    case StructuredValue::kTupleValue:
      return with_type("[" + ItemsText(value.tuple_value().values()) + "\b\b]");
    case StructuredValue::kNamedTupleValue: {
      std::string text;
      for (const auto& pair : value.named_tuple_value().values()) {
        text += Quoted(pair.value()) + ", ";
      }
      return with_type("[" + text + "\b\b]");
    }
    case StructuredValue::kDictValue: {
      std::map<std::string, std::string> items;
      for (const auto& [key, item] : value.dict_value().fields()) items[key] = Quoted(item);
      std::string text;
      for (const auto& [key, item] : items) text += fmt::format("'{}': {}, ", key, item);
      return with_type("{" + text + "\b\b}");
    }
    default:
      return with_type(PythonStr(value));
  }
}

// Positional arguments as "(args, {name: value})" describes them or, where nothing does, by name.
std::string CallText(const StructuredValue& signature, const std::vector<std::string>& keywords,
                     int option) {
  const std::string head = fmt::format("    Option #{}\n      Callable with:\n", option);
  std::string text;
  const auto& parts = signature.tuple_value().values();
  if (parts.empty()) {
    for (size_t i = 0; i < keywords.size(); ++i) {
      text += fmt::format("{0}Argument #{1}\n{0}  {2}\n", kIndent, i + 1, keywords[i]);
    }
    return text.empty() ? text : head + text;
  }
  const auto& args = parts[0].tuple_value().values();
  for (int i = 0; i < args.size(); ++i) {
    text += fmt::format("{}Argument #{}\n{}", kIndent, i + 1, ArgumentText(args[i]));
  }
  if (!text.empty()) text = head + text;
  if (parts.size() < 2) return text;
  std::set<std::string> names;
  for (const auto& [name, value] : parts[1].dict_value().fields()) names.insert(name);
  int i = 0;
  for (const std::string& name : names) {
    text += fmt::format("{0}Named Argument #{1}\n{0}  {2}\n", kIndent, ++i, name);
  }
  return text;
}

std::string FunctionText(const proto::SavedObject& object, const SavedObjectGraph& objects,
                         const LoadingOrder& order) {
  std::vector<std::string> names, keywords;
  if (object.has_bare_concrete_function()) {
    const auto& bare = object.bare_concrete_function();
    names.push_back(bare.concrete_function_name());
    keywords.assign(bare.argument_keywords().begin(), bare.argument_keywords().end());
  } else {
    names.assign(object.function().concrete_functions().begin(),
                 object.function().concrete_functions().end());
  }
  std::stable_sort(names.begin(), names.end(),
                   [&](const std::string& a, const std::string& b) { return order.Before(a, b); });
  std::string text;
  int option = 0;
  for (const std::string& name : names) {
    const auto function = objects.concrete_functions().find(name);
    text += CallText(function == objects.concrete_functions().end()
                         ? StructuredValue()
                         : function->second.canonicalized_input_signature(),
                     keywords, ++option);
  }
  return text;
}

}  // namespace

std::string ConcreteFunctionsText(const proto::MetaGraphDef& meta_graph) {
  const SavedObjectGraph& objects = meta_graph.object_graph_def();
  const LoadingOrder order(meta_graph.graph_def().library());
  std::string text = "\nConcrete Functions:";
  if (objects.nodes().empty()) return text;
  std::map<std::string, const proto::SavedObject*> functions;
  for (const auto& child : objects.nodes(0).children()) {
    if (child.node_id() < 0 || child.node_id() >= objects.nodes_size()) continue;
    const proto::SavedObject& object = objects.nodes(child.node_id());
    if (object.has_function() || object.has_bare_concrete_function()) {
      functions[child.local_name()] = &object;
    }
  }
  for (const auto& [name, object] : functions) {
    text += fmt::format("\n  Function Name: '{}'\n", name) + FunctionText(*object, objects, order);
  }
  return text;
}

}  // namespace sextant::cli
