#include "sextant/ops/image/random_crop.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace sextant {
namespace {

// The words of a stream, one by one.
class Words {
 public:
  explicit Words(Philox generator) : generator_(generator) {}
  uint32_t Next() {
    if (used_ == 4) {
      block_ = generator_.Next();
      used_ = 0;
    }
    return block_[used_++];
  }
  // In [0, n), all equally likely: words that would favour small numbers are passed over.
  int64_t Below(int64_t n) {
    const auto count = static_cast<uint32_t>(n);
    if ((count & (count - 1)) == 0) return Next() & (count - 1);
    const uint32_t surplus = ~uint32_t{0} % count + 1;
    uint32_t word;
    do {
      word = Next();
    } while (word < surplus);
    return word % count;
  }

 private:
  Philox generator_;
  Philox::Block block_;
  int used_ = 4;
};

float Area(const PixelBox& box) {
  return static_cast<float>(std::max<int64_t>(box.bottom - box.top, 0) *
                            std::max<int64_t>(box.right - box.left, 0));
}

int64_t Rounded(float value) { return std::lrint(value); }

std::optional<PixelBox> Attempt(const RandomCropOptions& options, int64_t height, int64_t width,
                                float aspect, Words* words) {
  const float whole = static_cast<float>(width) * static_cast<float>(height);
  const float min_area = options.area.first * whole, max_area = options.area.second * whole;
  int64_t h = Rounded(std::sqrt(min_area / aspect));
  int64_t tallest = Rounded(std::sqrt(max_area / aspect));
  const auto width_at = [&](int64_t rows) { return Rounded(static_cast<float>(rows) * aspect); };
  if (width_at(tallest) > width) {
    tallest = static_cast<int64_t>((static_cast<double>(width) + 0.5 - 1e-7) / aspect);
    if (width_at(tallest) > width) --tallest;
  }
  tallest = std::min(tallest, height);
  h = std::min(h, tallest);
  if (h < tallest) h += words->Below(tallest - h + 1);
  int64_t w = width_at(h);
  const auto area = [&] { return static_cast<float>(w * h); };
  if (area() < min_area) w = width_at(++h);
  if (area() > max_area) w = width_at(--h);
  if (area() < min_area || area() > max_area || w > width || h > height || w <= 0 || h <= 0) {
    return std::nullopt;
  }
  const int64_t y = h < height ? words->Below(height - h) : 0;
  const int64_t x = w < width ? words->Below(width - w) : 0;
  return PixelBox{y, x, y + h, x + w};
}

bool KeepsEnough(const PixelBox& crop, std::span<const PixelBox> boxes, float min_covered) {
  if (Area(crop) < 1) return false;
  for (const PixelBox& box : boxes) {
    if (Area(box) < 1) continue;
    const PixelBox shared{std::max(box.top, crop.top), std::max(box.left, crop.left),
                          std::min(box.bottom, crop.bottom), std::min(box.right, crop.right)};
    if (Area(shared) / Area(box) >= min_covered) return true;
  }
  return false;
}

}  // namespace

PixelBox RandomCropBox(const RandomCropOptions& options, std::span<const PixelBox> boxes,
                       int64_t height, int64_t width, Philox generator) {
  Words words(generator);
  const auto [low, high] = options.aspect_ratio;
  constexpr int64_t kMaxAttempts = 1 << 20;  // nobody waits for more
  for (int64_t i = 0; i < std::min(options.max_attempts, kMaxAttempts); ++i) {
    const float aspect = UniformFloat(words.Next()) * (high - low) + low;
    const auto crop = Attempt(options, height, width, aspect, &words);
    if (crop && KeepsEnough(*crop, boxes, options.min_covered)) return *crop;
  }
  return {0, 0, height, width};
}

}  // namespace sextant
