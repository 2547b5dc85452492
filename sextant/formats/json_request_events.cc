#include "sextant/formats/json_request_events.h"

#include <fmt/ranges.h>

#include "sextant/base/error.h"
#include "sextant/base/printable.h"

namespace sextant {

RequestEvents::RequestEvents(std::span<const JsonInput> inputs, JsonInstances::FillMissing fill)
    : fill_(std::move(fill)), known_(true), where_(Where::kRows), form_(JsonRequest::Form::kRows) {
  UseInputs(inputs);
}

std::string RequestEvents::Place() const {
  std::string place;
  if (!form_) return "the request";
  if (find_ == nullptr) {
    return builder_ == nullptr ? "the instance" : fmt::format("input '{}'", inputs_[input_].name);
  }
  if (*form_ == JsonRequest::Form::kRows) {
    place = fmt::format("instances[{}]", row_);
  } else {
    place = "inputs";
  }
  if (builder_ != nullptr) place += fmt::format(", input '{}'", inputs_[input_].name);
  return place;
}

std::string RequestEvents::InputNames() const {
  std::vector<std::string> names;
  for (const JsonInput& input : inputs_) names.push_back(input.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void RequestEvents::Fail(std::string_view what) const {
  throw InvalidArgument("{}: {} is no {}", Place(), what, DTypeName(inputs_[input_].dtype));
}

void RequestEvents::Unexpected(std::string_view what) const {
  switch (where_) {
    case Where::kStart:
      throw InvalidArgument("the request is {}, not a JSON object", what);
    case Where::kName:
      throw InvalidArgument("\"signature_name\" is {}, not a string", what);
    case Where::kInstances:
      throw InvalidArgument("\"instances\" is {}, not a list", what);
    default:
      throw InvalidArgument("{}: {} is not expected here", Place(), what);
  }
}

void RequestEvents::FindInputs() {
  if (!known_ && name_.empty()) guessed_ = true;
  UseInputs((*find_)(name_));
}

void RequestEvents::UseInputs(std::span<const JsonInput> inputs) {
  inputs_ = inputs;
  builders_.clear();
  builders_.reserve(inputs_.size());
  for (const JsonInput& input : inputs_) builders_.emplace_back(input.dtype);
}

void RequestEvents::Open(size_t input) {
  input_ = input;
  builder_ = &builders_[input];
}

bool RequestEvents::OpenValue() {
  if (builder_ != nullptr) return true;
  if (where_ != Where::kRows && where_ != Where::kInputs) return false;
  if (inputs_.size() != 1) {
    throw InvalidArgument(
        "{}: the signature has {} inputs, so a value by their names is needed: {}", Place(),
        inputs_.size(), InputNames());
  }
  if (where_ == Where::kRows) BeginRow(/*object=*/false);
  Open(0);
  return true;
}

template <typename Add>
void RequestEvents::Leaf(const Add& add) {
  if (Skipping()) return SkippedScalar();
  if (base64_ != Base64::kNone || !OpenValue()) Unexpected("a value");
  try {
    add(*builder_);
  } catch (const Error& error) {
    throw error.WithPrefix(Place() + ": ");
  }
  if (builder_->between_values()) CloseValue();
}

void RequestEvents::CloseValue() {
  builder_ = nullptr;
  if (where_ == Where::kRows) EndRow();
  if (where_ == Where::kInputs) where_ = Where::kRequest;
}

void RequestEvents::BeginRow(bool object) {
  if (objects_.value_or(object) != object) {
    throw InvalidArgument("{}: some instances are objects, others are not", Place());
  }
  objects_ = object;
}

void RequestEvents::EndRow() {
  ++row_;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    int64_t count = builders_[i].num_values();
    if (count == row_ - 1 && fill_ && fill_(i, builders_[i])) ++count;
    if (count == row_ || (count == 0 && inputs_[i].optional)) continue;
    --row_;
    if (inputs_[i].optional) {
      throw InvalidArgument("{}: input '{}' has a value in some instances, but not in all", Place(),
                            inputs_[i].name);
    }
    throw InvalidArgument("{} has no value for input '{}'; the signature takes: {}", Place(),
                          inputs_[i].name, InputNames());
  }
}

void RequestEvents::Bool(bool value) {
  Leaf([&](JsonTensorBuilder& builder) { builder.Bool(value); });
}
void RequestEvents::Integer(int64_t value) {
  Leaf([&](JsonTensorBuilder& builder) { builder.Integer(value); });
}
void RequestEvents::Unsigned(uint64_t value) {
  Leaf([&](JsonTensorBuilder& builder) { builder.Unsigned(value); });
}
void RequestEvents::Real(double value) {
  Leaf([&](JsonTensorBuilder& builder) { builder.Real(value); });
}

void RequestEvents::String(std::string_view text) {
  if (Skipping()) return SkippedScalar();
  if (where_ == Where::kName) {
    where_ = Where::kRequest;
    if (known_ || text.empty()) return;
    name_ = text;
    named_late_ = form_.has_value();
    return;
  }
  if (base64_ == Base64::kText) {
    base64_ = Base64::kEnd;
    try {
      return builder_->Base64(text);
    } catch (const Error& error) {
      throw error.WithPrefix(Place() + ": ");
    }
  }
  Leaf([&](JsonTensorBuilder& builder) { builder.String(text); });
}

void RequestEvents::StartList() {
  if (Skipping()) return skipped_->Start();
  if (where_ == Where::kInstances) {
    where_ = Where::kRows;
    return;
  }
  if (base64_ != Base64::kNone || !OpenValue()) Unexpected("a list");
  try {
    builder_->StartList();
  } catch (const Error& error) {
    throw error.WithPrefix(Place() + ": ");
  }
}

void RequestEvents::EndList() {
  if (Skipping()) {
    skipped_->End();
    if (skipped_->done()) skipped_.reset();
    return;
  }
  if (builder_ == nullptr) {  // of the instances
    if (row_ == 0) throw InvalidArgument("\"instances\" is empty");
    where_ = Where::kRequest;
    return;
  }
  try {
    builder_->EndList();
  } catch (const Error& error) {
    throw error.WithPrefix(Place() + ": ");
  }
  if (builder_->between_values()) CloseValue();
}

void RequestEvents::StartObject() {
  if (Skipping()) return skipped_->Start();
  if (builder_ != nullptr && base64_ == Base64::kNone) {
    base64_ = Base64::kKey;
    return;
  }
  switch (where_) {
    case Where::kStart:
      where_ = Where::kRequest;
      return;
    case Where::kRows:
      where_ = Where::kRowStart;
      return;
    case Where::kInputs:
      where_ = Where::kColumnsStart;
      return;
    default:
      Unexpected("an object");
  }
}

void RequestEvents::Key(std::string_view text) {
  if (Skipping()) return;
  if (base64_ != Base64::kNone) {
    if (base64_ != Base64::kKey || text != "b64") Fail("an object other than {\"b64\": ...}");
    base64_ = Base64::kText;
    return;
  }
  const bool first = where_ == Where::kRowStart || where_ == Where::kColumnsStart;
  if (first && text == "b64" && inputs_.size() == 1 && inputs_[0].name != "b64") {
    where_ = where_ == Where::kRowStart ? Where::kRows : Where::kInputs;
    OpenValue();
    base64_ = Base64::kText;
    return;
  }
  if (where_ == Where::kRowStart) {
    BeginRow(/*object=*/true);
    where_ = Where::kRow;
  }
  if (where_ == Where::kColumnsStart) where_ = Where::kColumns;
  if (where_ == Where::kRequest) return TopKey(text);
  InputKey(text);
}

void RequestEvents::TopKey(std::string_view text) {
  if (text == "signature_name") {
    where_ = Where::kName;
    return;
  }
  const bool rows = text == "instances";
  if (!rows && text != "inputs") return Skip();
  if (form_) throw InvalidArgument("a request has \"instances\" or \"inputs\" once, not both");
  form_ = rows ? JsonRequest::Form::kRows : JsonRequest::Form::kColumns;
  FindInputs();
  where_ = rows ? Where::kInstances : Where::kInputs;
}

void RequestEvents::InputKey(std::string_view text) {
  const bool rows = where_ == Where::kRow;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].name != text) continue;
    if (builders_[i].num_values() > (rows ? row_ : 0)) {
      throw InvalidArgument("{}: input '{}' is there twice", Place(), inputs_[i].name);
    }
    return Open(i);
  }
  if (!rows) return Skip();  // as TensorFlow Serving does
  throw InvalidArgument("{}: the signature has no input '{}'; it takes: {}", Place(),
                        ShownName(text), InputNames());
}

void RequestEvents::EndObject() {
  if (Skipping()) {
    skipped_->End();
    if (skipped_->done()) skipped_.reset();
    return;
  }
  if (base64_ != Base64::kNone) {
    if (base64_ != Base64::kEnd) Fail("an object other than {\"b64\": ...}");
    base64_ = Base64::kNone;
    if (builder_->between_values()) CloseValue();
    return;
  }
  switch (where_) {
    case Where::kRowStart:
      BeginRow(/*object=*/true);
      [[fallthrough]];
    case Where::kRow:
      where_ = Where::kRows;
      return EndRow();
    case Where::kColumnsStart:
    case Where::kColumns:
      where_ = Where::kRequest;
      return;
    default:
      where_ = Where::kEnd;
  }
}

JsonRequest RequestEvents::Take() {
  if (!form_) throw InvalidArgument("the request has neither \"instances\" nor \"inputs\"");
  JsonRequest request{.signature_name = name_, .form = *form_};
  request.inputs.reserve(inputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (builders_[i].num_values() == 0) {
      if (!inputs_[i].optional) {
        throw InvalidArgument("inputs has no value for '{}'; the signature takes: {}",
                              inputs_[i].name, InputNames());
      }
      request.inputs.emplace_back();
    } else if (*form_ == JsonRequest::Form::kRows) {
      request.inputs.push_back(builders_[i].TakeRows(inputs_[i].shape));
    } else {
      request.inputs.push_back(builders_[i].TakeValue());
    }
  }
  return request;
}

}  // namespace sextant
