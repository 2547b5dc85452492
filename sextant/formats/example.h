// Reading the features of a tf.train.Example or SequenceExample.
//
// A feature that is absent, or present without a kind, is missing. The functions below throw
// NOT_FOUND for a missing feature and INVALID_ARGUMENT for one of another kind or, where one value
// is wanted, of another count. What they return points into the example.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sextant/proto/example.pb.h"

namespace sextant {

// Throws DATA_LOSS when the bytes are not an Example.
proto::Example ParseExample(std::string_view bytes);
proto::SequenceExample ParseSequenceExample(std::string_view bytes);

// Null when missing.
const proto::Feature* FindFeature(const proto::Features& features, std::string_view key);
const proto::Feature* FindFeature(const proto::Example& example, std::string_view key);
const proto::FeatureList* FindFeatureList(const proto::SequenceExample& example,
                                          std::string_view key);
bool HasFeature(const proto::Example& example, std::string_view key);

std::vector<std::string_view> GetBytes(const proto::Example& example, std::string_view key);
std::span<const int64_t> GetInt64s(const proto::Example& example, std::string_view key);
std::span<const float> GetFloats(const proto::Example& example, std::string_view key);

// Features of exactly one value.
std::string_view GetOneBytes(const proto::Example& example, std::string_view key);
int64_t GetOneInt64(const proto::Example& example, std::string_view key);
float GetOneFloat(const proto::Example& example, std::string_view key);

}  // namespace sextant
