// Convolutions by oneDNN, data-parallel over the batch.
//
// oneDNN would share a call out with OpenMP; here each call runs in one thread of our team, on a
// unit of images of about 400 microseconds (onednn_units.cc). A batch of 128 images of 50
// microseconds each is 16 units of 8, and a thread that is preempted takes fewer of them. A unit is
// a primitive of its own size, so there are two primitives: for whole units and for the rest. A
// single image is split by output channels instead, each part with its slice of the filter.
//
// Only kernels that oneDNN generated for the processor ("jit", "brg") count as fast: its reference
// and GEMM fallbacks lose to the products of ops/nn, so Make gives null for them. Filters are
// reordered from TensorFlow's [height, width, in, out] to the order the primitive asks for; all
// primitives of one convolution must ask for the same one.
//
// Invariant: images of a batch do not depend on each other, so forward results and gradients of the
// images are the same however the batch is split. The gradient of the filter is a sum over the
// batch: each unit has a partial sum, units are those of SplitForSums, which depend on the size of
// the batch alone, and the sums are added in the order of the units.
#include "sextant/device/cpu/onednn_conv.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "sextant/device/cpu/onednn_units.h"
#include "sextant/device/cpu/thread_scratch.h"

namespace sextant::onednn {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

struct PartialSums;

constexpr auto kFloat = memory::data_type::f32;
// Of one core, on the low side.
constexpr double kFlopsPerNanosecond = 60;

double ImageCost(const ConvSizes& s) {
  return 2.0 * static_cast<double>(s.out_h * s.out_w * s.filter_elements()) / kFlopsPerNanosecond;
}

Tag ImageTag(ImageLayout layout) {
  if (layout == ImageLayout::kNhwc) return Tag::nhwc;
  if (layout == ImageLayout::kNchw) return Tag::nchw;
  return ChannelBlock() == 16 ? Tag::nChw16c : Tag::nChw8c;
}

memory::dims FilterDims(const ConvSizes& s) {
  const int64_t in = s.in_c / s.groups;
  if (s.groups == 1) return {s.out_c, in, s.filter_h, s.filter_w};
  return {s.groups, s.out_c / s.groups, in, s.filter_h, s.filter_w};
}

// TensorFlow's order; "row" channels apart where the filter is part of one with more outputs.
memory::desc PlainFilter(const ConvSizes& s, int64_t row) {
  if (s.groups != 1) return {FilterDims(s), kFloat, Tag::hwigo};
  return {FilterDims(s), kFloat, memory::dims{1, row, s.filter_w * s.in_c * row, s.in_c * row}};
}

// A single image is shared out by output channels: into this number of parts.
int64_t ChannelParts(const ConvSizes& s, const ConvLayouts& layouts, int threads) {
  constexpr double kWorthSharing = 20e3;  // nanoseconds
  const bool can = s.batch == 1 && s.groups == 1 && layouts.out == ImageLayout::kBlocked &&
                   s.out_c % (threads * ChannelBlock()) == 0;
  return can && ImageCost(s) > kWorthSharing ? threads : 1;
}

// What all primitives of one convolution are described by.
struct Description {
  Description(const ConvSizes& s, const ConvLayouts& layouts, int64_t images)
      : src({images, s.in_c, s.in_h, s.in_w}, kFloat, ImageTag(layouts.in)),
        dst({images, s.out_c, s.out_h, s.out_w}, kFloat, ImageTag(layouts.out)),
        filter(FilterDims(s), kFloat, Tag::any),
        bias({s.out_c}, kFloat, Tag::x),
        strides{s.stride_h, s.stride_w},
        dilations{s.dilation_h - 1, s.dilation_w - 1},
        before{s.pad_top, s.pad_left},
        after{s.pad_bottom, s.pad_right} {}

  dnnl::convolution_forward::primitive_desc Forward(const ConvEpilogue& epilogue,
                                                    dnnl::prop_kind kind) const {
    dnnl::primitive_attr attr = UserScratchpad();
    dnnl::post_ops post;
    if (epilogue.sum) post.append_sum(1.0f);
    if (epilogue.relu) post.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
    attr.set_post_ops(post);
    constexpr auto direct = dnnl::algorithm::convolution_direct;
    if (epilogue.bias) {
      return {{kind, direct, src, filter, bias, dst, strides, dilations, before, after},
              attr,
              Engine()};
    }
    return {{kind, direct, src, filter, dst, strides, dilations, before, after}, attr, Engine()};
  }
  dnnl::convolution_forward::primitive_desc Hint() const {
    return Forward({}, dnnl::prop_kind::forward_training);
  }

  memory::desc src, dst, filter, bias;
  memory::dims strides, dilations, before, after;
};

template <typename Desc>
bool Fast(const Desc& desc) {
  const std::string_view name = desc.impl_info_str();
  return name.starts_with("jit") || name.starts_with("brg");
}

// A filter in the order that a primitive wants, and the way there or back.
class Filter {
 public:
  Filter(const ConvSizes& sizes, const memory::desc& wanted) : Filter(sizes, wanted, sizes.out_c) {}
  Filter(const ConvSizes& sizes, const memory::desc& wanted, int64_t row)
      : buffer_(NewBuffer(std::max(wanted.get_size(), sizeof(float)))),
        from_plain_(Reorder(PlainFilter(sizes, row), wanted)),
        to_plain_(Reorder(wanted, PlainFilter(sizes, row))) {}

  const void* data() const { return buffer_->data(); }
  float* data() { return static_cast<float*>(buffer_->data()); }
  size_t elements() const { return buffer_->size() / sizeof(float); }
  void Set(const float* plain) { from_plain_.Execute(0, {plain, buffer_->data()}); }
  void Get(float* plain) { to_plain_.Execute(0, {buffer_->data(), plain}); }

 private:
  static UnitPrimitive Reorder(const memory::desc& from, const memory::desc& to) {
    const dnnl::reorder::primitive_desc desc(Engine(), from, Engine(), to, UserScratchpad());
    return UnitPrimitive(dnnl::reorder(desc), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}},
                         desc.scratchpad_desc(), 1);
  }

  BufferRef buffer_;
  UnitPrimitive from_plain_, to_plain_;
};

// Runs make(), which throws where oneDNN has nothing, and gives null instead.
template <typename F>
auto OrNull(const F& make) -> decltype(make()) {
  SingleThreaded();
  try {
    return make();
  } catch (const dnnl::error&) {
    return nullptr;
  }
}

}  // namespace

int64_t ChannelBlock() {
  static const int64_t block = dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core ? 16 : 8;
  return block;
}

struct ConvForward::Impl {
  ConvSizes sizes;  // of a part
  ConvEpilogue epilogue;
  UnitSplit split;
  UnitPrimitives primitives;
  std::vector<Filter> filters;  // per part
  std::vector<float> scaled;
};

std::unique_ptr<ConvForward> ConvForward::Make(const ConvSizes& whole, const ConvLayouts& layouts,
                                               const ConvEpilogue& epilogue, int threads) {
  const int64_t parts = ChannelParts(whole, layouts, threads);
  ConvSizes sizes = whole;
  sizes.out_c /= parts;
  return OrNull([&]() -> std::unique_ptr<ConvForward> {
    // A kernel that ends in an epilogue has no gradient.
    const auto kind = epilogue == ConvEpilogue() ? dnnl::prop_kind::forward_training
                                                 : dnnl::prop_kind::forward_inference;
    const UnitSplit split = UnitSplit::For(sizes.batch, ImageCost(sizes), threads);
    memory::desc filter;
    bool fast = true;
    UnitPrimitives primitives(split, [&](int64_t images) {
      const auto desc = Description(sizes, layouts, images).Forward(epilogue, kind);
      fast = fast && Fast(desc);
      if (filter && filter != desc.weights_desc()) fast = false;
      filter = desc.weights_desc();
      UnitPrimitive::Args args = {{DNNL_ARG_SRC, desc.src_desc()}, {DNNL_ARG_WEIGHTS, filter}};
      if (epilogue.bias) args.emplace_back(DNNL_ARG_BIAS, desc.bias_desc());
      args.emplace_back(DNNL_ARG_DST, desc.dst_desc());
      return UnitPrimitive(dnnl::convolution_forward(desc), args, desc.scratchpad_desc(), threads);
    });
    if (!fast) return nullptr;
    std::vector<Filter> filters;
    for (int64_t i = 0; i < parts; ++i) filters.emplace_back(sizes, filter, whole.out_c);
    return std::unique_ptr<ConvForward>(new ConvForward(std::make_unique<Impl>(
        Impl{sizes, epilogue, split, std::move(primitives), std::move(filters), {}})));
  });
}

ConvForward::ConvForward(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ConvForward::~ConvForward() = default;

void ConvForward::SetFilter(const float* filter, const float* scale) {
  const int64_t part_c = impl_->sizes.out_c;
  const auto parts = static_cast<int64_t>(impl_->filters.size());
  if (scale != nullptr) {
    const int64_t out_c = part_c * parts, rows = impl_->sizes.filter_elements() / part_c;
    impl_->scaled.resize(rows * out_c);
    for (int64_t row = 0; row < rows; ++row) {
      float* to = impl_->scaled.data() + row * out_c;
      for (int64_t c = 0; c < out_c; ++c) to[c] = filter[row * out_c + c] * scale[c];
    }
    filter = impl_->scaled.data();
  }
  for (int64_t part = 0; part < parts; ++part) impl_->filters[part].Set(filter + part * part_c);
}

void ConvForward::Run(KernelContext& ctx, const float* src, const float* bias, float* dst) {
  Impl& impl = *impl_;
  const ConvSizes& sizes = impl.sizes;
  // Either there are several parts, of one image, or several units.
  const bool by_parts = impl.filters.size() > 1;
  const int64_t count = by_parts ? static_cast<int64_t>(impl.filters.size()) : impl.split.count();
  const double cost = ImageCost(sizes) * static_cast<double>(impl.split.size);
  ForEachUnit(ctx, count, cost, [&](int thread, int64_t i) {
    const int64_t part = by_parts ? i : 0, unit = by_parts ? 0 : i;
    const int64_t first = unit * impl.split.size;
    const float* in = src + first * sizes.in_elements();
    float* out = dst + (first + part) * sizes.out_elements();
    const void* filter = impl.filters[part].data();
    UnitPrimitive& primitive = impl.primitives.For(impl.split, unit);
    if (impl.epilogue.bias) {
      primitive.Execute(thread, {in, filter, bias + part * sizes.out_c, out});
    } else {
      primitive.Execute(thread, {in, filter, out});
    }
  });
}

struct ConvBackwardData::Impl {
  ConvSizes sizes;
  UnitSplit split;
  UnitPrimitives primitives;
  Filter filter;
};

std::unique_ptr<ConvBackwardData> ConvBackwardData::Make(const ConvSizes& sizes,
                                                         const ConvLayouts& layouts, int threads) {
  return OrNull([&]() -> std::unique_ptr<ConvBackwardData> {
    const UnitSplit split = UnitSplit::For(sizes.batch, ImageCost(sizes), threads);
    memory::desc filter;
    bool fast = true;
    UnitPrimitives primitives(split, [&](int64_t images) {
      const Description d(sizes, layouts, images);
      const dnnl::convolution_backward_data::primitive_desc desc(
          {dnnl::algorithm::convolution_direct, d.src, d.filter, d.dst, d.strides, d.dilations,
           d.before, d.after},
          UserScratchpad(), Engine(), d.Hint());
      fast = fast && Fast(desc);
      if (filter && filter != desc.weights_desc()) fast = false;
      filter = desc.weights_desc();
      return UnitPrimitive(dnnl::convolution_backward_data(desc),
                           {{DNNL_ARG_DIFF_DST, desc.diff_dst_desc()},
                            {DNNL_ARG_WEIGHTS, filter},
                            {DNNL_ARG_DIFF_SRC, desc.diff_src_desc()}},
                           desc.scratchpad_desc(), threads);
    });
    if (!fast) return nullptr;
    return std::unique_ptr<ConvBackwardData>(new ConvBackwardData(
        std::make_unique<Impl>(Impl{sizes, split, std::move(primitives), Filter(sizes, filter)})));
  });
}

ConvBackwardData::ConvBackwardData(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ConvBackwardData::~ConvBackwardData() = default;

void ConvBackwardData::SetFilter(const float* filter) { impl_->filter.Set(filter); }

void ConvBackwardData::Run(KernelContext& ctx, const float* diff_dst, float* diff_src) {
  Impl& impl = *impl_;
  const double cost = ImageCost(impl.sizes) * static_cast<double>(impl.split.size);
  ForEachUnit(ctx, impl.split.count(), cost, [&](int thread, int64_t unit) {
    const int64_t first = unit * impl.split.size;
    impl.primitives.For(impl.split, unit)
        .Execute(thread, {diff_dst + first * impl.sizes.out_elements(), impl.filter.data(),
                          diff_src + first * impl.sizes.in_elements()});
  });
}

struct ConvBackwardFilter::Impl {
  ConvSizes sizes;
  UnitSplit split;
  UnitPrimitives primitives;
  Filter filter;
};

std::unique_ptr<ConvBackwardFilter> ConvBackwardFilter::Make(const ConvSizes& sizes,
                                                             const ConvLayouts& layouts,
                                                             int threads) {
  return OrNull([&]() -> std::unique_ptr<ConvBackwardFilter> {
    const UnitSplit split = SplitForSums(sizes.batch);
    memory::desc filter;
    bool fast = true;
    UnitPrimitives primitives(split, [&](int64_t images) {
      const Description d(sizes, layouts, images);
      const dnnl::convolution_backward_weights::primitive_desc desc(
          {dnnl::algorithm::convolution_direct, d.src, d.filter, d.dst, d.strides, d.dilations,
           d.before, d.after},
          UserScratchpad(), Engine(), d.Hint());
      fast = fast && Fast(desc);
      if (filter && filter != desc.diff_weights_desc()) fast = false;
      filter = desc.diff_weights_desc();
      return UnitPrimitive(dnnl::convolution_backward_weights(desc),
                           {{DNNL_ARG_SRC, desc.src_desc()},
                            {DNNL_ARG_DIFF_DST, desc.diff_dst_desc()},
                            {DNNL_ARG_DIFF_WEIGHTS, filter}},
                           desc.scratchpad_desc(), threads);
    });
    if (!fast) return nullptr;
    Filter sum(sizes, filter);
    return std::unique_ptr<ConvBackwardFilter>(new ConvBackwardFilter(
        std::make_unique<Impl>(Impl{sizes, split, std::move(primitives), std::move(sum)})));
  });
}

ConvBackwardFilter::ConvBackwardFilter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ConvBackwardFilter::~ConvBackwardFilter() = default;

void ConvBackwardFilter::Run(KernelContext& ctx, const float* src, const float* diff_dst,
                             float* diff_filter) {
  Impl& impl = *impl_;
  const auto elements = static_cast<int64_t>(impl.filter.elements());
  float* sum = impl.filter.data();
  // Of the units but the first, one after another.
  float* partial = ThreadScratch<PartialSums, float>((impl.split.count() - 1) * elements);
  const double cost = ImageCost(impl.sizes) * static_cast<double>(impl.split.size);
  ForEachUnit(ctx, impl.split.count(), cost, [&](int thread, int64_t unit) {
    const int64_t first = unit * impl.split.size;
    impl.primitives.For(impl.split, unit)
        .Execute(thread, {src + first * impl.sizes.in_elements(),
                          diff_dst + first * impl.sizes.out_elements(),
                          unit == 0 ? sum : partial + (unit - 1) * elements});
  });
  ctx.ParallelFor(elements, 0.3 * static_cast<double>(impl.split.count()),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t unit = 1; unit < impl.split.count(); ++unit) {
                      const float* part = partial + (unit - 1) * elements;
                      for (int64_t i = begin; i < end; ++i) sum[i] += part[i];
                    }
                  });
  impl.filter.Get(diff_filter);
}

}  // namespace sextant::onednn
