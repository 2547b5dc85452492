// RequestEvents: the events of a request in rows or columns, sent to the builders of its inputs.
// Inside of json_request.cc.
#pragma once

#include <optional>

#include "sextant/formats/json_events.h"
#include "sextant/formats/json_request.h"
#include "sextant/formats/json_tensor.h"

namespace sextant {

// Passes over a value of any kind.
class SkippedValue {
 public:
  void Scalar() { done_ = depth_ == 0; }
  void Start() { ++depth_; }
  void End() { done_ = --depth_ == 0; }
  bool done() const { return done_; }

 private:
  int depth_ = 0;
  bool done_ = false;
};

class RequestEvents : public JsonEvents {
 public:
  // "name": the signature's where it is known, none while it is not.
  RequestEvents(const FindJsonInputs& find, const std::optional<std::string>& name)
      : find_(&find), known_(name.has_value()), name_(name.value_or("")) {}

  // For rows that come one by one, each as a text of its own.
  RequestEvents(std::span<const JsonInput> inputs, JsonInstances::FillMissing fill);

  // Whether values were read for the default signature without knowing that it is meant.
  bool guessed() const { return guessed_; }
  bool named_late() const { return named_late_; }
  int64_t num_rows() const { return row_; }

  JsonRequest Take();

  void Null() override {
    if (Skipping()) return SkippedScalar();
    if (builder_ != nullptr && fill_ && builder_->between_values() && base64_ == Base64::kNone) {
      builder_ = nullptr;  // missing
      return;
    }
    if (builder_ != nullptr) Fail("null");
    Unexpected("null");
  }
  void Bool(bool value) override;
  void Integer(int64_t value) override;
  void Unsigned(uint64_t value) override;
  void Real(double value) override;
  void String(std::string_view text) override;
  void StartList() override;
  void EndList() override;
  void StartObject() override;
  void Key(std::string_view text) override;
  void EndObject() override;

 private:
  enum class Where {
    kStart,         // before the request
    kRequest,       // in it, between its keys
    kName,          // the value of "signature_name"
    kInstances,     // the value of "instances"
    kRows,          // in its list, between instances
    kRowStart,      // in the object of an instance, before its first key
    kRow,           // in it, between its keys
    kInputs,        // the value of "inputs"
    kColumnsStart,  // in its object, before its first key
    kColumns,       // in it, between its keys
    kEnd,
  };
  enum class Base64 { kNone, kKey, kText, kEnd };  // what comes next of {"b64": text}

  bool Skipping() const { return skipped_.has_value(); }
  void Skip() { skipped_.emplace(); }
  void SkippedScalar() {
    skipped_->Scalar();
    if (skipped_->done()) skipped_.reset();
  }
  template <typename Add>
  void Leaf(const Add& add);
  // The value that is read for an input, if it may begin here.
  bool OpenValue();
  void CloseValue();
  void Open(size_t input);
  void FindInputs();
  void UseInputs(std::span<const JsonInput> inputs);
  void BeginRow(bool object);
  void EndRow();
  void TopKey(std::string_view text);
  void InputKey(std::string_view text);
  std::string Place() const;
  std::string InputNames() const;
  [[noreturn]] void Fail(std::string_view what) const;
  [[noreturn]] void Unexpected(std::string_view what) const;

  const FindJsonInputs* find_ = nullptr;  // none: the inputs are known
  JsonInstances::FillMissing fill_;
  const bool known_;
  std::string name_;
  bool guessed_ = false, named_late_ = false;

  Where where_ = Where::kStart;
  std::optional<SkippedValue> skipped_;
  std::optional<JsonRequest::Form> form_;
  std::span<const JsonInput> inputs_;
  std::vector<JsonTensorBuilder> builders_;
  JsonTensorBuilder* builder_ = nullptr;  // of the value at hand
  size_t input_ = 0;                      // its input
  Base64 base64_ = Base64::kNone;
  std::optional<bool> objects_;  // instances are objects
  int64_t row_ = 0;
};

}  // namespace sextant
