#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/data/pad_crop_flip.cc"
#include <algorithm>
#include <cstdint>

#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "sextant/base/error.h"
#include "sextant/data/image_functions.h"

#ifndef SEXTANT_DATA_PAD_CROP_FLIP_TYPES
#define SEXTANT_DATA_PAD_CROP_FLIP_TYPES
namespace sextant::data {

// One image to be made: source pixels begin "pad" rows and columns into the padded image, of which
// the part from (y, x) on is taken.
struct CropJob {
  const uint8_t* planes;
  int64_t channels, height, width;
  int64_t pad, y, x;
  bool flip;
  float offset, scale;
  float* out;
};

}  // namespace sextant::data
#endif

HWY_BEFORE_NAMESPACE();
namespace sextant::data {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Pixels [0, count) of a row of three planes to interleaved floats, or back to front.
void ThreePlanes(const uint8_t* src, int64_t plane, int64_t count, const CropJob& job, float* out) {
  const hn::CappedTag<float, 16> d;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  const hn::Rebind<int32_t, decltype(d)> ints;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto offset = hn::Set(d, job.offset), scale = hn::Set(d, job.scale);
  const auto load = [&](const uint8_t* from) HWY_ATTR {
    const auto pixels = hn::ConvertTo(d, hn::PromoteTo(ints, hn::LoadU(bytes, from)));
    const auto scaled = hn::Mul(hn::Sub(pixels, offset), scale);
    return job.flip ? hn::Reverse(d, scaled) : scaled;
  };
  // The last vector goes over pixels done before: a row has no remainder to be done one by one.
  for (int64_t i = 0; i < count; i += lanes) {
    const int64_t from = std::min(i, count - lanes);
    const int64_t to = job.flip ? count - lanes - from : from;
    hn::StoreInterleaved3(load(src + from), load(src + plane + from), load(src + 2 * plane + from),
                          d, out + 3 * to);
  }
}

void AnyPlanes(const uint8_t* src, int64_t plane, int64_t count, const CropJob& job, float* out) {
  for (int64_t i = 0; i < count; ++i) {
    float* const pixel = out + (job.flip ? count - 1 - i : i) * job.channels;
    for (int64_t c = 0; c < job.channels; ++c) {
      pixel[c] = (static_cast<float>(src[c * plane + i]) - job.offset) * job.scale;
    }
  }
}

void CropOne(const CropJob& job) {
  const hn::CappedTag<float, 16> d;
  const int64_t plane = job.height * job.width, row_elements = job.width * job.channels;
  // Columns [begin, end) of the crop, before the flip, are in the source; others are padding.
  const int64_t begin = std::clamp<int64_t>(job.pad - job.x, 0, job.width);
  const int64_t end = std::clamp<int64_t>(job.width + job.pad - job.x, begin, job.width);
  const bool simd = job.channels == 3 && end - begin >= static_cast<int64_t>(hn::Lanes(d));
  const float padding = (0.0f - job.offset) * job.scale;
  for (int64_t y = 0; y < job.height; ++y) {
    float* const out = job.out + y * row_elements;
    const int64_t source_y = y + job.y - job.pad;
    if (source_y < 0 || source_y >= job.height) {
      std::fill_n(out, row_elements, padding);
      continue;
    }
    const int64_t left = (job.flip ? job.width - end : begin) * job.channels;
    const int64_t inside = (end - begin) * job.channels;
    std::fill_n(out, left, padding);
    std::fill(out + left + inside, out + row_elements, padding);
    const uint8_t* const src = job.planes + source_y * job.width + begin + job.x - job.pad;
    (simd ? ThreePlanes : AnyPlanes)(src, plane, end - begin, job, out + left);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::data
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::data {
namespace {

HWY_EXPORT(CropOne);

int64_t CountOf(const Tensor& images) { return images.rank() == 4 ? images.dim(0) : 1; }

CropJob FirstJob(const Tensor& images, int64_t pad, Tensor* out) {
  const int rank = images.rank();
  if ((rank != 3 && rank != 4) || images.dtype() != DType::kUInt8) {
    throw InvalidArgument("images must be uint8 [(count,) channels, height, width], got {}",
                          images.valid() ? images.Describe() : "no tensor");
  }
  const int64_t channels = images.dim(rank - 3), height = images.dim(rank - 2),
                width = images.dim(rank - 1);
  Shape shape{height, width, channels};
  if (rank == 4) shape.Insert(0, images.dim(0));
  if (!out->valid()) *out = Tensor(DType::kFloat, shape);
  if (out->dtype() != DType::kFloat || out->shape() != shape) {
    throw InvalidArgument("the result of images {} must be float{}, got {}",
                          images.shape().ToString(), shape.ToString(), out->Describe());
  }
  return {.planes = images.data<uint8_t>(),
          .channels = channels,
          .height = height,
          .width = width,
          .pad = pad,
          .y = pad,
          .x = pad,
          .flip = false,
          .offset = 0.0f,
          .scale = 1.0f,
          .out = out->data<float>()};
}

// In [0, count), from a word of random bits.
int64_t Below(uint32_t word, int64_t count) {
  return static_cast<int64_t>((uint64_t{word} * static_cast<uint64_t>(count)) >> 32);
}

}  // namespace

void PadCropFlip(const Tensor& images, const PadCropFlipOptions& options, Philox& random,
                 Tensor* out) {
  if (options.pad < 0 || options.pad > (1 << 20)) {
    throw InvalidArgument("cannot pad images by {} pixels", options.pad);
  }
  CropJob job = FirstJob(images, options.pad, out);
  job.offset = options.offset;
  job.scale = options.scale;
  const int64_t elements = job.channels * job.height * job.width;
  for (int64_t i = 0; i < CountOf(images); ++i) {
    const Philox::Block words = random.Next();
    job.y = Below(words[0], 2 * options.pad + 1);
    job.x = Below(words[1], 2 * options.pad + 1);
    job.flip = words[2] & 1;
    HWY_DYNAMIC_DISPATCH(CropOne)(job);
    job.planes += elements;
    job.out += elements;
  }
}

Tensor PadCropFlip(const Tensor& images, const PadCropFlipOptions& options, Philox& random) {
  Tensor out;
  PadCropFlip(images, options, random, &out);
  return out;
}

void HwcFloats(const Tensor& images, Tensor* out) {
  CropJob job = FirstJob(images, 0, out);
  const int64_t elements = job.channels * job.height * job.width;
  for (int64_t i = 0; i < CountOf(images); ++i) {
    HWY_DYNAMIC_DISPATCH(CropOne)(job);
    job.planes += elements;
    job.out += elements;
  }
}

Tensor HwcFloats(const Tensor& images) {
  Tensor out;
  HwcFloats(images, &out);
  return out;
}

}  // namespace sextant::data
#endif
