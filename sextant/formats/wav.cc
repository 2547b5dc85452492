#include "sextant/formats/wav.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sextant/base/error.h"

namespace sextant {
namespace {

constexpr int kSampleBytes = 2;
constexpr uint32_t kHeaderBytes = 44;

template <typename T>
void Append(std::string* out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    out->push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i)));
  }
}

int16_t Sample(float x) {
  if (std::isnan(x)) return 0;
  return static_cast<int16_t>(std::clamp(std::round(x * 32768.f), -32768.f, 32767.f));
}

}  // namespace

std::string WriteWav(std::span<const float> samples, int64_t num_channels, uint32_t sample_rate) {
  if (num_channels < 1 || num_channels > std::numeric_limits<uint16_t>::max()) {
    throw InvalidArgument("a WAV file cannot have {} channels", num_channels);
  }
  if (sample_rate == 0) throw InvalidArgument("sample_rate must be in (0, 2^32), got: 0");
  const uint64_t data_bytes = samples.size() * kSampleBytes;
  const uint64_t frame_bytes = static_cast<uint64_t>(num_channels) * kSampleBytes;
  constexpr uint64_t kMax = std::numeric_limits<uint32_t>::max();
  if (data_bytes > kMax - kHeaderBytes || frame_bytes * sample_rate > kMax) {
    throw InvalidArgument("{} samples of {} channels at {} Hz do not fit a WAV file",
                          samples.size(), num_channels, sample_rate);
  }
  std::string out;
  out.reserve(kHeaderBytes + data_bytes);
  out += "RIFF";
  Append(&out, static_cast<uint32_t>(kHeaderBytes - 8 + data_bytes));
  out += "WAVEfmt ";
  Append(&out, uint32_t{16});  // bytes of the format
  Append(&out, uint16_t{1});   // PCM
  Append(&out, static_cast<uint16_t>(num_channels));
  Append(&out, sample_rate);
  Append(&out, static_cast<uint32_t>(frame_bytes * sample_rate));
  Append(&out, static_cast<uint16_t>(frame_bytes));
  Append(&out, uint16_t{8 * kSampleBytes});
  out += "data";
  Append(&out, static_cast<uint32_t>(data_bytes));
  for (const float sample : samples) Append(&out, Sample(sample));
  return out;
}

}  // namespace sextant
