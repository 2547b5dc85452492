#include "linear_regression/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace {

constexpr double kWidth = 480, kHeight = 320, kMargin = 40;

// Maps values of an axis to places of the drawing; its ends are whole steps beyond the values.
class Axis {
 public:
  Axis(std::span<const float> values, double step, double from, double to)
      : step_(step), from_(from), to_(to) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    low_ = std::floor(*least / step) * step;
    high_ = std::max(low_ + step, std::ceil(*most / step) * step);
  }
  double Place(double value) const {
    return from_ + (value - low_) / (high_ - low_) * (to_ - from_);
  }
  std::vector<double> Ticks() const {
    std::vector<double> ticks;
    for (double t = low_; t < high_ + step_ / 2; t += step_) ticks.push_back(t);
    return ticks;
  }

 private:
  double step_, from_, to_, low_ = 0, high_ = 0;
};

}  // namespace

void DrawFigure(const std::string& path, const sextant::Tensor& x, const sextant::Tensor& y,
                const sextant::Tensor& line_y) {
  const std::span<const float> xs = x.flat<float>(), ys = y.flat<float>();
  const Axis across(xs, 0.5, kMargin, kWidth - kMargin / 2);
  const Axis up(ys, 1, kHeight - kMargin, kMargin / 2);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" "
      "font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      kWidth, kHeight);
  for (const double tick : across.Ticks()) {
    const double at = across.Place(tick);
    svg += fmt::format(
        "<path d=\"M{0:.1f} {1} V{2}\" stroke=\"#ddd\"/>"
        "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4:g}</text>\n",
        at, kMargin / 2, kHeight - kMargin, kHeight - kMargin + 16, tick);
  }
  for (const double tick : up.Ticks()) {
    const double at = up.Place(tick);
    svg += fmt::format(
        "<path d=\"M{1} {0:.1f} H{2}\" stroke=\"#ddd\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:g}</text>\n",
        at, kMargin, kWidth - kMargin / 2, kMargin - 6, at + 4, tick);
  }
  for (size_t i = 0; i < xs.size(); ++i) {
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"#4878b0\"/>\n",
                       across.Place(xs[i]), up.Place(ys[i]));
  }
  if (line_y.valid()) {
    std::string points;
    for (size_t i = 0; i < xs.size(); ++i) {
      points +=
          fmt::format("{:.1f},{:.1f} ", across.Place(xs[i]), up.Place(line_y.flat<float>()[i]));
    }
    points.pop_back();
    svg += fmt::format(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#c04040\" stroke-width=\"2\"/>\n", points);
  }
  sextant::FileSystem::ForPath(path).WriteFileAtomically(path, svg + "</svg>\n");
}
