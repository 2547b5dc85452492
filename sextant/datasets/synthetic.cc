#include "sextant/datasets/synthetic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string_view>

#include "sextant/base/interrupt.h"
#include "sextant/datasets/random_draw.h"

namespace sextant::datasets {
namespace {

constexpr int kSyntheticClasses = 10;

char Pixel(double value) { return static_cast<char>(std::lround(std::clamp(value, 0.0, 255.0))); }

// Makes `count` images by `draw(label, random, pixels)`, which appends image_bytes.
template <typename Draw>
LabelledImages MakeImages(int64_t count, int64_t image_bytes, RandomDraw random, const Draw& draw) {
  LabelledImages images{.image_bytes = image_bytes};
  images.pixels.reserve(count * image_bytes);
  for (int64_t i = 0; i < count; ++i) {
    if (i % 256 == 0) ThrowIfInterrupted();
    const int label = random.Int(kSyntheticClasses);
    images.labels.push_back(static_cast<char>(label));
    draw(label, random, images.pixels);
  }
  return images;
}

// The lit bars of a seven-segment display, clockwise from the top, the middle one last.
constexpr std::array<unsigned, kSyntheticClasses> kSegments = {0x3f, 0x06, 0x5b, 0x4f, 0x66,
                                                               0x6d, 0x7d, 0x07, 0x7f, 0x6f};

struct Bar {
  double x0, y0, x1, y1;
};
// In a box of width 1 and height 2.
constexpr std::array<Bar, 7> kBars = {{{0, 0, 1, 0},
                                       {1, 0, 1, 1},
                                       {1, 1, 1, 2},
                                       {0, 2, 1, 2},
                                       {0, 1, 0, 2},
                                       {0, 0, 0, 1},
                                       {0, 1, 1, 1}}};

double Distance(double x, double y, const Bar& bar) {
  const double dx = bar.x1 - bar.x0, dy = bar.y1 - bar.y0;
  const double t =
      std::clamp(((x - bar.x0) * dx + (y - bar.y0) * dy) / (dx * dx + dy * dy), 0.0, 1.0);
  return std::hypot(x - bar.x0 - t * dx, y - bar.y0 - t * dy);
}

}  // namespace

LabelledImages SyntheticCifar10(int64_t count, int64_t seed, int split) {
  const auto draw = [](int label, RandomDraw& random, std::string& pixels) {
    const double angle = M_PI * label / kSyntheticClasses + 0.1 * random.Normal();
    const double frequency = 2 * M_PI * (label % 3 + 2) / 32;
    const double phase = random.Uniform() * 2 * M_PI;
    const double height = 45 + 20 * random.Uniform();
    const double light = 128 + 25 * random.Normal();
    for (int channel = 0; channel < 3; ++channel) {
      const double colour = std::cos(2 * M_PI * (label / 10.0 + channel / 3.0));
      for (int i = 0; i < 32 * 32; ++i) {
        const int row = i / 32, column = i % 32;
        const double along = std::cos(angle) * column + std::sin(angle) * row;
        const double wave = std::sin(frequency * along + phase);
        pixels.push_back(Pixel(light + height * wave + 30 * colour + 25 * random.Normal()));
      }
    }
  };
  return MakeImages(count, 3 * 32 * 32, RandomDraw(seed, split), draw);
}

LabelledImages SyntheticMnist(int64_t count, int64_t seed, int split) {
  const auto draw = [](int label, RandomDraw& random, std::string& pixels) {
    const double size = 7 + 2 * random.Uniform();
    const double left = 14 - size / 2 + 2 * random.Normal();
    const double top = 14 - size + 1.5 * random.Normal();
    const double slant = 0.15 * random.Normal();
    const double stroke = 0.14 + 0.06 * random.Uniform();
    const double ink = 200 + 55 * random.Uniform();
    for (int i = 0; i < 28 * 28; ++i) {
      const int row = i / 28, column = i % 28;
      const double y = (row - top) / size;
      const double x = (column - left) / size + slant * (y - 1);
      double nearest = 10;
      for (size_t bar = 0; bar < kBars.size(); ++bar) {
        if (kSegments[label] >> bar & 1) nearest = std::min(nearest, Distance(x, y, kBars[bar]));
      }
      const double cover = std::clamp((stroke - nearest) * size + 0.5, 0.0, 1.0);
      pixels.push_back(Pixel(ink * cover + (cover > 0 ? 12 * random.Normal() : 0)));
    }
  };
  return MakeImages(count, 28 * 28, RandomDraw(seed, split), draw);
}

}  // namespace sextant::datasets
