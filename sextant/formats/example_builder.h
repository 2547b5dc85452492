// Making serialized tf.train.Examples and SequenceExamples without building messages.
//
//   std::string bytes = ExampleBuilder().Bytes("image", pixels).Int64("label", 7).Serialize();
//
// Features stand in the order they were added. Of a key given twice, readers take the last. Used by
// one thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant {

class SEXTANT_API ExampleBuilder {
 public:
  ExampleBuilder& Bytes(std::string_view key, std::string_view value);               // one string
  ExampleBuilder& Int64(std::string_view key, int64_t value);                        // one number
  ExampleBuilder& Float(std::string_view key, float value);                          // one number
  ExampleBuilder& Bytes(std::string_view key, std::span<const std::string> values);  // a list
  ExampleBuilder& Int64s(std::string_view key, std::span<const int64_t> values);     // a list
  ExampleBuilder& Floats(std::string_view key, std::span<const float> values);       // a list

  std::string Serialize() const;  // the bytes of the message
  // The same into memory used before.
  void SerializeTo(std::string* bytes) const;
  // Forgets the features.
  void Clear() { features_.clear(); }

 private:
  friend class SequenceExampleBuilder;
  std::string features_;  // the body of Features
};

// Features of the whole sequence go to context(); a feature list has one entry of values per step.
class SEXTANT_API SequenceExampleBuilder {
 public:
  ExampleBuilder& context() { return context_; }

  // Starts an empty feature list; the functions below add a step to the list started last, and
  // throw FAILED_PRECONDITION before any is.
  SequenceExampleBuilder& FeatureList(std::string_view key);
  SequenceExampleBuilder& BytesStep(std::span<const std::string> values);
  SequenceExampleBuilder& Int64Step(std::span<const int64_t> values);
  SequenceExampleBuilder& FloatStep(std::span<const float> values);

  std::string Serialize() const;  // the bytes of the message

 private:
  void AddStep(std::string_view feature);
  void AppendList(std::string* lists) const;

  ExampleBuilder context_;
  std::string lists_;  // the body of FeatureLists, without the list started last
  bool started_ = false;
  std::string key_;   // of the list started last
  std::string list_;  // its body
};

}  // namespace sextant

#pragma GCC visibility pop
