// The order of the work of a Winograd convolution (winograd_kernels.cc has its algebra).
//
// A group of tiles is transformed, multiplied and transformed back before the next one begins, so
// that its transformed values (36 per tile and channel) stay in the second-level cache instead of
// making three passes over memory:
//
//   for each group of 6 to 48 tiles:            a unit of work of one thread
//     for each tile, block of channels:         input transform    -> in[36][blocks][tiles][lanes]
//     for each of the 36 parts:                 matrix product     -> out[36][blocks][tiles][lanes]
//     for each tile, block of channels:         output transform, bias, addend, Relu -> image
//
// Parts lie a cache line more than their size apart: at distances of powers of two all 36 would
// fall on the same cache sets. Tiles are numbered over the whole batch, so that groups are full
// whatever the size of an image: with 16 + 16 channels a group has 42 tiles, images of 8 x 8 pixels
// have 4.
//
// Invariant: outputs of a tile depend on that tile alone, so results do not depend on how tiles are
// grouped or shared out. The gradient of the filter is a sum over all tiles: each unit of images
// has a sum of its own, transformed back to a filter, and these are added up in the order of the
// units; how a batch is cut into units depends on its size alone (SplitForSums).
#include "sextant/device/cpu/winograd_conv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sextant/device/cpu/onednn_units.h"
#include "sextant/device/cpu/thread_scratch.h"
#include "sextant/device/cpu/winograd_kernels.h"

namespace sextant::winograd {
namespace {

using onednn::ConvSizes;

// Transformed tiles that stay in the second-level cache while all channels are combined.
constexpr int64_t kGroupBytes = 192 << 10;
constexpr int64_t kMaxGroupTiles = 48;
// A line between the parts: at distances of powers of two they would share cache sets.
constexpr int64_t kPartGap = 16;
constexpr double kNanosecondsPerTileChannel = 2;

int64_t GroupTiles(int64_t channels) {
  const auto bytes_per_tile = static_cast<int64_t>(kParts * sizeof(float)) * channels;
  return std::clamp<int64_t>(kGroupBytes / bytes_per_tile / 6 * 6, 6, kMaxGroupTiles);
}

float* Floats(const BufferRef& buffer) { return static_cast<float*>(buffer->data()); }

// Transformed tiles of a group, and sums of a gradient.
struct TileScratch;
struct SumScratch;
struct PartialScratch;

// The tiles of a batch, numbered image by image, row by row.
struct TileGrid {
  TileGrid(int64_t tile, int64_t batch, int64_t h, int64_t w)
      : size(tile),
        rows((h + tile - 1) / tile),
        columns((w + tile - 1) / tile),
        count(batch * rows * columns) {}
  struct Place {
    int64_t image, row, column;  // of the first output
  };
  Place At(int64_t tile) const {
    const int64_t in_image = tile % (rows * columns);
    return {tile / (rows * columns), in_image / columns * size, in_image % columns * size};
  }
  int64_t size, rows, columns, count;
};

}  // namespace

std::string Refusal(const ConvSizes& s) {
  const int64_t lanes = BestKernels().lanes;
  if (lanes == 0) return "vectors of this processor are too short";
  if (lanes != onednn::ChannelBlock()) return "vectors are not of the size of a block";
  if (s.groups != 1) return "groups";
  if (s.filter_h != s.filter_w || (s.filter_h != 3 && s.filter_h != 5)) {
    return fmt::format("a filter of {}x{}", s.filter_h, s.filter_w);
  }
  if (s.stride_h != 1 || s.stride_w != 1) return "strides";
  if (s.dilation_h != 1 || s.dilation_w != 1) return "dilations";
  if (s.in_c % lanes != 0 || s.out_c % lanes != 0) return "channels that do not fill a block";
  for (const int64_t pad : {s.pad_top, s.pad_bottom, s.pad_left, s.pad_right}) {
    if (pad < 0 || pad >= s.filter_h) return "a padding of the size of the filter";
  }
  // Small images waste parts of tiles, few tiles the transform of the filter, few channels that of
  // the images.
  const int64_t tile = BestKernels().For(s.filter_h).tile;
  if (s.out_h < 4 || s.out_w < 4) return "small images";
  if (TileGrid(tile, s.batch, s.out_h, s.out_w).count < 64) return "few tiles";
  return s.in_c < 16 || s.out_c < 16 ? "few channels" : "";
}

ConvForward::ConvForward(const ConvSizes& s, const onednn::ConvEpilogue& epilogue, bool transposed)
    : epilogue_(epilogue), transposed_(transposed), filter_size_(s.filter_h), batch_(s.batch) {
  in_c_ = transposed ? s.out_c : s.in_c;
  in_h_ = transposed ? s.out_h : s.in_h;
  in_w_ = transposed ? s.out_w : s.in_w;
  out_c_ = transposed ? s.in_c : s.out_c;
  out_h_ = transposed ? s.in_h : s.out_h;
  out_w_ = transposed ? s.in_w : s.out_w;
  pad_top_ = transposed ? s.filter_h - 1 - s.pad_top : s.pad_top;
  pad_left_ = transposed ? s.filter_w - 1 - s.pad_left : s.pad_left;
  tiles_ = GroupTiles(in_c_ + out_c_);
  part_ = tiles_ * std::max(in_c_, out_c_) + kPartGap;
  filter_ = NewBuffer(kParts * (in_c_ * out_c_ + kPartGap) * sizeof(float));
}

void ConvForward::SetFilter(KernelContext& ctx, const float* filter, const float* scale) {
  const Kernels& kernels = BestKernels();
  const int64_t count = in_c_ * out_c_, lanes = kernels.lanes, out_blocks = out_c_ / lanes;
  const int64_t taps = filter_size_ * filter_size_;
  if (transposed_ || scale != nullptr) {
    prepared_.resize(taps * count);
    for (int64_t p = 0; p < taps; ++p) {
      float* to = prepared_.data() + p * count;
      if (transposed_) {  // turned by half a turn, inputs and outputs exchanged
        const float* from = filter + (taps - 1 - p) * count;
        for (int64_t i = 0; i < in_c_; ++i) {
          for (int64_t o = 0; o < out_c_; ++o) to[i * out_c_ + o] = from[o * in_c_ + i];
        }
      } else {
        const float* from = filter + p * count;
        for (int64_t i = 0; i < count; ++i) to[i] = from[i] * scale[i % out_c_];
      }
    }
    filter = prepared_.data();
  }
  float* to = Floats(filter_);
  ctx.ParallelFor(in_c_, 12.0 * static_cast<double>(out_c_), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t o = 0; o < out_c_; o += lanes) {
        kernels.For(filter_size_)
            .transform_filter(filter + i * out_c_ + o, count,
                              to + PackedIndex(i, o, in_c_, out_blocks, lanes), count + kPartGap);
      }
    }
  });
}

void ConvForward::Run(KernelContext& ctx, const float* src, const float* bias, float* dst) {
  const Kernels& kernels = BestKernels();
  const int64_t lanes = kernels.lanes, in_blocks = in_c_ / lanes, out_blocks = out_c_ / lanes;
  const FilterKernels& by_size = kernels.For(filter_size_);
  const TileGrid grid(by_size.tile, batch_, out_h_, out_w_);
  const int64_t groups = (grid.count + tiles_ - 1) / tiles_;
  const float* filter = Floats(filter_);
  const double cost = kNanosecondsPerTileChannel * static_cast<double>(tiles_ * (in_c_ + out_c_));
  onednn::ForEachUnit(ctx, groups, cost, [&](int, int64_t group) {
    const int64_t first = group * tiles_, count = std::min(tiles_, grid.count - first);
    float *in = ThreadScratch<TileScratch, float>(2 * kParts * part_), *out = in + kParts * part_;
    for (int64_t t = 0; t < count; ++t) {
      const TileGrid::Place place = grid.At(first + t);
      const float* image = src + place.image * in_c_ * in_h_ * in_w_;
      for (int64_t b = 0; b < in_blocks; ++b) {
        kernels.transform_input(image + b * in_h_ * in_w_ * lanes, in_h_, in_w_,
                                place.row - pad_top_, place.column - pad_left_,
                                in + (b * tiles_ + t) * lanes, part_);
      }
    }
    for (int part = 0; part < kParts; ++part) {
      kernels.multiply(in + part * part_, filter + part * (in_c_ * out_c_ + kPartGap),
                       out + part * part_, in_blocks, out_blocks, count, tiles_);
    }
    for (int64_t t = 0; t < count; ++t) {
      const TileGrid::Place place = grid.At(first + t);
      float* image = dst + place.image * out_c_ * out_h_ * out_w_;
      for (int64_t b = 0; b < out_blocks; ++b) {
        const Epilogue epilogue{epilogue_.bias ? bias + b * lanes : nullptr, epilogue_.sum,
                                epilogue_.relu};
        by_size.transform_output(out + (b * tiles_ + t) * lanes, part_,
                                 image + b * out_h_ * out_w_ * lanes, out_h_, out_w_, place.row,
                                 place.column, epilogue);
      }
    }
  });
}

ConvBackwardFilter::ConvBackwardFilter(const ConvSizes& s)
    : sizes_(s),
      units_(onednn::SplitForSums(s.batch)),
      tiles_(GroupTiles(s.in_c + s.out_c)),
      in_part_(tiles_ * s.in_c + kPartGap),
      out_part_(tiles_ * s.out_c + kPartGap) {}

void ConvBackwardFilter::Run(KernelContext& ctx, const float* src, const float* diff_dst,
                             float* diff_filter) {
  const Kernels& kernels = BestKernels();
  const int64_t lanes = kernels.lanes, pairs = sizes_.in_c * sizes_.out_c, units = units_.count();
  const FilterKernels& by_size = kernels.For(sizes_.filter_h);
  const int64_t elements = sizes_.filter_elements(), outputs = by_size.tile * by_size.tile;
  float* partial = ThreadScratch<PartialScratch, float>(units * elements);
  const int64_t tile_channels =
      units_.size * sizes_.out_h * sizes_.out_w * (sizes_.in_c + sizes_.out_c) / outputs;
  const double cost = kNanosecondsPerTileChannel * static_cast<double>(tile_channels);
  onednn::ForEachUnit(ctx, units, cost, [&](int, int64_t unit) {
    float* sum = ThreadScratch<SumScratch, float>(kParts * pairs);
    std::memset(sum, 0, kParts * pairs * sizeof(float));
    const int64_t first = unit * units_.size;
    Accumulate(src + first * sizes_.in_elements(), diff_dst + first * sizes_.out_elements(),
               units_.images(unit), sum);
    for (int64_t i = 0; i < pairs; i += lanes) {
      by_size.transform_filter_back(sum + i, pairs, partial + unit * elements + i, pairs);
    }
  });
  ctx.ParallelFor(elements, 0.3 * static_cast<double>(units), [&](int64_t begin, int64_t end) {
    std::copy(partial + begin, partial + end, diff_filter + begin);
    for (int64_t unit = 1; unit < units; ++unit) {
      const float* part = partial + unit * elements;
      for (int64_t i = begin; i < end; ++i) diff_filter[i] += part[i];
    }
  });
}

void ConvBackwardFilter::Accumulate(const float* src, const float* diff_dst, int64_t images,
                                    float* sum) const {
  const Kernels& kernels = BestKernels();
  const ConvSizes& s = sizes_;
  const int64_t lanes = kernels.lanes, in_blocks = s.in_c / lanes, out_blocks = s.out_c / lanes;
  const FilterKernels& by_size = kernels.For(s.filter_h);
  const TileGrid grid(by_size.tile, images, s.out_h, s.out_w);
  float* in = ThreadScratch<TileScratch, float>(kParts * (in_part_ + out_part_));
  float* out = in + kParts * in_part_;
  for (int64_t first = 0; first < grid.count; first += tiles_) {
    const int64_t tiles = std::min(tiles_, grid.count - first);
    for (int64_t t = 0; t < tiles; ++t) {
      const TileGrid::Place place = grid.At(first + t);
      const float* image = src + place.image * s.in_elements();
      const float* gradient = diff_dst + place.image * s.out_elements();
      for (int64_t b = 0; b < in_blocks; ++b) {
        kernels.transform_input(image + b * s.in_h * s.in_w * lanes, s.in_h, s.in_w,
                                place.row - s.pad_top, place.column - s.pad_left,
                                in + (b * tiles_ + t) * lanes, in_part_);
      }
      for (int64_t b = 0; b < out_blocks; ++b) {
        by_size.transform_gradient(gradient + b * s.out_h * s.out_w * lanes, s.out_h, s.out_w,
                                   place.row, place.column, out + (b * tiles_ + t) * lanes,
                                   out_part_);
      }
    }
    for (int part = 0; part < kParts; ++part) {
      kernels.accumulate(in + part * in_part_, out + part * out_part_,
                         sum + part * s.in_c * s.out_c, in_blocks, out_blocks, tiles, tiles_);
    }
  }
}

}  // namespace sextant::winograd
