// WAV files: 16-bit samples.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace sextant {

// Samples of [-1, 1] (others are clipped), frame by frame, as little-endian 16-bit PCM. Throws
// INVALID_ARGUMENT without channels or a sample rate, or when the file would exceed 4 GiB.
std::string WriteWav(std::span<const float> samples, int64_t num_channels, uint32_t sample_rate);

}  // namespace sextant
