#include "sextant/data/parse_examples.h"

#include <algorithm>
#include <cstring>

#include "sextant/base/error.h"
#include "sextant/data/own_tensor.h"
#include "sextant/formats/wire.h"

namespace sextant::data {
namespace {

// The first value of a list of bytes. REQUIRES: there is one.
std::string_view FirstBytes(std::string_view list) {
  WireReader reader(list);
  while (reader.Next() && !reader.Is(1, WireType::kBytes)) {
  }
  return reader.bytes();
}

}  // namespace

// Of one call: kept by the thread, because a call may be as small as one record.
struct ExampleParser::Scratch {
  JoinedBytes joined;
  std::vector<WireFeature> found;  // by record and feature
  std::vector<int64_t> counts;
  std::vector<void*> outs;

  static Scratch& OfThread() {
    thread_local Scratch scratch;
    scratch.joined.Clear();
    return scratch;
  }
};

ExampleParser::Feature ExampleParser::Checked(const FeatureSpec& spec) {
  Feature feature{
      spec, DenseSpec(spec.dtype, PartialShape(spec.shape), fmt::format("feature '{}'", spec.name)),
      spec.dtype};
  const DenseSpec& dense = feature.dense;
  if (spec.decode_raw != DType::kInvalid) {
    if (dense.kind != FeatureKind::kBytes || dense.variable || !IsPlain(spec.decode_raw)) {
      throw InvalidArgument(
          "feature '{}': decode_raw is for strings of a known number of plain elements", spec.name);
    }
    feature.dtype = spec.decode_raw;
  }
  if (spec.default_value) {
    const int64_t count = spec.default_value->num_elements();
    if (spec.default_value->dtype() != feature.dtype ||
        (count != 1 && (dense.variable || count != dense.elements()))) {
      throw InvalidArgument("feature '{}': the default must be one {} or of its shape, got {}",
                            spec.name, DTypeName(feature.dtype), spec.default_value->Describe());
    }
  }
  return feature;
}

ExampleParser::ExampleParser(const ExampleSpec& spec) {
  std::vector<WantedFeature> wanted;
  for (const FeatureSpec& s : spec) {
    features_.push_back(Checked(s));
    const Feature& feature = features_.back();
    if (std::ranges::count(spec, s.name, &FeatureSpec::name) > 1) {
      throw InvalidArgument("feature '{}' is named twice", s.name);
    }
    wanted.push_back({s.name, feature.dense.kind});
    element_spec_.push_back({s.name, feature.dtype, PartialShape(s.shape)});
    if (!feature.dense.variable) row_fields_.push_back({s.name, feature.dtype, Shape(s.shape)});
  }
  if (row_fields_.size() < features_.size()) row_fields_.clear();
  table_.Set(std::move(wanted));
}

int64_t ExampleParser::Count(int f, const WireFeature& found) const {
  const Feature& feature = features_[f];
  const std::string& name = feature.spec.name;
  if (found.kind == FeatureKind::kNone) {
    if (feature.spec.default_value) return 0;
    throw InvalidArgument("feature '{}': is missing and has no default", name);
  }
  if (found.kind != feature.dense.kind) {
    throw InvalidArgument("feature '{}': holds {} values, expected {}", name,
                          FeatureKindName(found.kind), FeatureKindName(feature.dense.kind));
  }
  const int64_t count = CountValues(found);
  if (count < 0) throw InvalidArgument("feature '{}': its list of values is malformed", name);
  if (feature.spec.decode_raw != DType::kInvalid) {
    const size_t bytes = static_cast<size_t>(feature.dense.elements()) * DTypeSize(feature.dtype);
    if (count != 1 || FirstBytes(found.list).size() != bytes) {
      throw InvalidArgument(
          "feature '{}': has {} values, the first of {} bytes, expected one of {}", name, count,
          count > 0 ? FirstBytes(found.list).size() : 0, bytes);
    }
  } else if (!feature.dense.Accepts(count)) {
    throw InvalidArgument("feature '{}': has {} values, expected {}{} for shape {}", name, count,
                          feature.dense.variable ? "a multiple of " : "", feature.dense.elements(),
                          PartialShape(feature.spec.shape).ToString());
  }
  return count;
}

void ExampleParser::Scan(std::string_view record, JoinedBytes& joined, std::span<WireFeature> found,
                         std::span<int64_t> counts) const {
  std::ranges::fill(found, WireFeature());
  const auto each = [&](std::string_view key, const WireFeature& feature) {
    const int f = table_.Find(key);
    if (f >= 0 && feature.kind != FeatureKind::kNone) found[f] = feature;
  };
  if (!ReadExample(record, joined, each)) {
    throw InvalidArgument("its {} bytes are not a tf.train.Example", record.size());
  }
  for (int f = 0; f < table_.size(); ++f) counts[f] = Count(f, found[f]);
}

void ExampleParser::Fill(int f, const WireFeature& found, int64_t count, void* out) const {
  const Feature& feature = features_[f];
  if (found.kind == FeatureKind::kNone) {
    if (!feature.dense.variable) {
      FillFeature(*feature.spec.default_value, out, 0, feature.dense.elements());
    }
  } else if (feature.spec.decode_raw != DType::kInvalid) {
    const std::string_view bytes = FirstBytes(found.list);
    if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
  } else {
    ReadFeature(feature.dense.kind, found.list, out, 0, count);
  }
}

void ExampleParser::ParseRow(std::string_view record, std::span<void* const> outs) const {
  Scratch& scratch = Scratch::OfThread();
  scratch.found.resize(features_.size());
  scratch.counts.resize(features_.size());
  Scan(record, scratch.joined, scratch.found, scratch.counts);
  for (size_t f = 0; f < features_.size(); ++f) {
    Fill(static_cast<int>(f), scratch.found[f], scratch.counts[f], outs[f]);
  }
}

void ExampleParser::ParseOne(std::string_view record, Element* element) const {
  std::vector<void*>& outs = Scratch::OfThread().outs;
  outs.clear();
  element->fields().resize(row_fields_.size());
  for (size_t f = 0; f < row_fields_.size(); ++f) {
    auto& [name, tensor] = element->fields()[f];
    name = row_fields_[f].name;
    MakeOwn(&tensor, row_fields_[f].dtype, row_fields_[f].shape);
    outs.push_back(tensor.raw_data());
  }
  ParseRow(record, outs);
}

void ExampleParser::Parse(const Tensor& records, Element* element) const {
  if (records.rank() == 0 && !row_fields_.empty()) {
    return ParseOne(*records.data<std::string>(), element);
  }
  Scratch& scratch = Scratch::OfThread();
  const std::span<const std::string> texts = records.flat<std::string>();
  const size_t width = features_.size();
  scratch.found.resize(texts.size() * width);
  scratch.counts.resize(texts.size() * width);
  for (size_t i = 0; i < texts.size(); ++i) {
    try {
      Scan(texts[i], scratch.joined, std::span(scratch.found).subspan(i * width, width),
           std::span(scratch.counts).subspan(i * width, width));
    } catch (const Error& e) {
      if (records.rank() == 0) throw;
      throw e.WithPrefix(fmt::format("record {} of the batch: ", i));
    }
  }
  element->fields().resize(width);
  for (size_t f = 0; f < width; ++f) {
    const Feature& feature = features_[f];
    Shape shape = records.shape();
    int64_t values = feature.dense.elements();  // of one example
    if (feature.dense.variable) {
      values = 0;
      for (size_t i = f; i < scratch.counts.size(); i += width) {
        values = std::max(values, scratch.counts[i]);
      }
      shape.Append(values / feature.dense.elements());
    }
    for (const int64_t size : feature.dense.shape.dims()) shape.Append(size);
    auto& [name, tensor] = element->fields()[f];
    name = feature.spec.name;
    MakeOwn(&tensor, feature.dtype, shape);
    const Tensor padding = feature.spec.default_value ? *feature.spec.default_value
                                                      : Tensor::Zeros(feature.dtype, Shape());
    const size_t size = DTypeSize(feature.dtype);
    char* out = static_cast<char*>(tensor.raw_data());
    for (size_t i = f; i < scratch.counts.size(); i += width) {
      const int64_t count = scratch.counts[i];
      Fill(static_cast<int>(f), scratch.found[i], count, out);
      if (feature.dense.variable) FillFeature(padding, out, count, values - count);
      out += static_cast<size_t>(values) * size;
    }
  }
}

std::string ExampleParser::Describe() const {
  std::string text;
  for (const Feature& feature : features_) {
    text += fmt::format("{}{}: {}{}{}", text.empty() ? "" : ", ", feature.spec.name,
                        feature.dtype == feature.spec.dtype ? "" : "string of ",
                        DTypeName(feature.dtype), PartialShape(feature.spec.shape).ToString());
  }
  return text;
}

}  // namespace sextant::data
