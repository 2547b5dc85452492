#include <map>
#include <optional>

#include "sextant/base/base64.h"
#include "sextant/base/error.h"
#include "sextant/base/printable.h"
#include "sextant/formats/example_builder.h"
#include "sextant/formats/json_events.h"
#include "sextant/formats/json_request.h"

namespace sextant {
namespace {

// The values of one feature.
struct FeatureValues {
  std::vector<int64_t> integers;
  std::vector<float> reals;
  std::vector<std::string> texts;
};

class ExampleEvents : public JsonEvents {
 public:
  JsonExamples Take() {
    if (!seen_examples_) throw InvalidArgument("the request has no \"examples\"");
    if (result_.examples.empty()) throw InvalidArgument("\"examples\" is empty");
    if (!context_.empty()) {
      for (std::string& example : result_.examples) example.insert(0, context_);
    }
    return std::move(result_);
  }

  void Null() override {
    if (Skipped()) return;
    throw InvalidArgument("{}null has no form in an Example", Place());
  }
  void Bool(bool value) override { Integer(value ? 1 : 0); }
  void Integer(int64_t value) override {
    if (Skipped()) return;
    Feature(Kind::kInteger).integers.push_back(value);
    EndValue();
  }
  void Unsigned(uint64_t value) override {
    if (Skipped()) return;
    throw InvalidArgument("{}{} is out of the range of int64", Place(), value);
  }
  void Real(double value) override {
    if (Skipped()) return;
    Feature(Kind::kReal).reals.push_back(static_cast<float>(value));
    EndValue();
  }
  void String(std::string_view text) override;
  void StartList() override;
  void EndList() override;
  void StartObject() override;
  void Key(std::string_view text) override;
  void EndObject() override;

 private:
  enum class Where { kStart, kRequest, kName, kExamples, kList, kExample, kContext, kValue, kEnd };
  enum class Kind { kNone, kInteger, kReal, kText };

  std::string Place() const {
    if (where_ != Where::kValue) return "";
    return in_context_ ? fmt::format("context, feature '{}': ", ShownName(key_))
                       : fmt::format("examples[{}], feature '{}': ", result_.examples.size(),
                                     ShownName(key_));
  }
  bool Skipped() {
    if (skip_depth_ < 0) return false;
    if (skip_depth_ == 0) skip_depth_ = -1;  // a scalar was all
    return true;
  }
  FeatureValues& Feature(Kind kind) {
    if (where_ != Where::kValue || base64_ != 0) {
      throw InvalidArgument("{}a value is not expected here", Place());
    }
    if (kind_ != Kind::kNone && kind_ != kind) {
      throw InvalidArgument("{}integers, reals and strings are mixed in one list", Place());
    }
    kind_ = kind;
    return values_;
  }
  void EndValue() {
    if (!in_list_) EndFeature();
  }
  void EndFeature();
  void AddText(std::string text) {
    Feature(Kind::kText).texts.push_back(std::move(text));
    EndValue();
  }

  Where where_ = Where::kStart;
  int skip_depth_ = -1;  // of what is passed over; -1: nothing is
  bool seen_examples_ = false, in_context_ = false, in_list_ = false;
  int base64_ = 0;  // 1: the key "b64" comes next, 2: its text, 3: the end of the object
  Kind kind_ = Kind::kNone;
  std::string key_;
  FeatureValues values_;
  ExampleBuilder builder_;
  std::string context_;
  JsonExamples result_;
};

void ExampleEvents::EndFeature() {
  switch (kind_) {
    case Kind::kInteger:
      builder_.Int64s(key_, values_.integers);
      break;
    case Kind::kReal:
      builder_.Floats(key_, values_.reals);
      break;
    case Kind::kText:
      builder_.Bytes(key_, std::span<const std::string>(values_.texts));
      break;
    case Kind::kNone:  // an empty list is a feature that is missing
      break;
  }
  values_ = {};
  kind_ = Kind::kNone;
  where_ = in_context_ ? Where::kContext : Where::kExample;
}

void ExampleEvents::String(std::string_view text) {
  if (Skipped()) return;
  if (where_ == Where::kName) {
    result_.signature_name = text;
    where_ = Where::kRequest;
    return;
  }
  if (base64_ != 2) return AddText(std::string(text));
  std::string safe(text), bytes;
  for (char& c : safe) c = c == '+' ? '-' : c == '/' ? '_' : c;
  try {
    DecodeBase64(safe, &bytes);
  } catch (const Error& error) {
    throw error.WithPrefix(Place());
  }
  base64_ = 0;
  Feature(Kind::kText).texts.push_back(std::move(bytes));
  base64_ = 3;
}

void ExampleEvents::StartList() {
  if (skip_depth_ >= 0) {
    ++skip_depth_;
  } else if (where_ == Where::kExamples) {
    where_ = Where::kList;
  } else if (where_ == Where::kValue && !in_list_ && base64_ == 0) {
    in_list_ = true;
  } else {
    throw InvalidArgument("{}a list is not expected here", Place());
  }
}

void ExampleEvents::EndList() {
  if (skip_depth_ >= 0) {
    if (--skip_depth_ == 0) skip_depth_ = -1;
  } else if (where_ == Where::kList) {
    where_ = Where::kRequest;
  } else {
    in_list_ = false;
    EndFeature();
  }
}

void ExampleEvents::StartObject() {
  if (skip_depth_ >= 0) {
    ++skip_depth_;
  } else if (where_ == Where::kStart) {
    where_ = Where::kRequest;
  } else if (where_ == Where::kList) {
    where_ = Where::kExample;
  } else if (where_ == Where::kContext) {
    in_context_ = true;
  } else if (where_ == Where::kValue && base64_ == 0) {
    base64_ = 1;
  } else {
    throw InvalidArgument("{}an object is not expected here", Place());
  }
}

void ExampleEvents::Key(std::string_view text) {
  if (skip_depth_ >= 0) return;
  if (base64_ != 0) {
    if (base64_ != 1 || text != "b64") {
      throw InvalidArgument("{}an object other than {{\"b64\": ...}}", Place());
    }
    base64_ = 2;
  } else if (where_ == Where::kExample || where_ == Where::kContext) {
    key_ = text;
    where_ = Where::kValue;
  } else if (text == "signature_name") {
    where_ = Where::kName;
  } else if (text == "context") {
    where_ = Where::kContext;
  } else if (text == "examples") {
    if (seen_examples_) throw InvalidArgument("\"examples\" is there twice");
    seen_examples_ = true;
    where_ = Where::kExamples;
  } else {
    skip_depth_ = 0;
  }
}

void ExampleEvents::EndObject() {
  if (skip_depth_ >= 0) {
    if (--skip_depth_ == 0) skip_depth_ = -1;
  } else if (base64_ != 0) {
    if (base64_ != 3) throw InvalidArgument("{}an object other than {{\"b64\": ...}}", Place());
    base64_ = 0;
    EndValue();
  } else if (where_ == Where::kExample) {
    result_.examples.push_back(builder_.Serialize());
    builder_.Clear();
    where_ = Where::kList;
  } else if (where_ == Where::kContext) {
    context_ = builder_.Serialize();
    builder_.Clear();
    in_context_ = false;
    where_ = Where::kRequest;
  } else {
    where_ = Where::kEnd;
  }
}

}  // namespace

JsonExamples ReadJsonExamples(const std::string& body) {
  ExampleEvents events;
  ReadJsonEvents(body, events);
  return events.Take();
}

}  // namespace sextant
