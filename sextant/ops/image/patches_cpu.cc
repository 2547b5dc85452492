#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/element_type.h"
#include "sextant/ops/image/patch_window.h"

namespace sextant {
namespace {

class PatchesKernel : public Kernel {
 public:
  explicit PatchesKernel(KernelInit& init) : rows_(Window(init, 1)), columns_(Window(init, 2)) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& images = ctx.input(0);
    if (images.rank() != 4) {
      throw InvalidArgument("input must be 4-dimensional, got {}", images.shape().ToString());
    }
    const int64_t height = rows_.Count(images.dim(1)), width = columns_.Count(images.dim(2));
    if (height < 0 || width < 0) {
      throw InvalidArgument("patches of {} by {} pixels do not fit in images of shape {}",
                            rows_.extent(), columns_.extent(), images.shape().ToString());
    }
    const Shape depths{rows_.size, columns_.size, images.dim(3)};  // throws when it overflows
    Tensor& out = ctx.AllocateOutput(0, Shape{images.dim(0), height, width, depths.num_elements()});
    if (out.num_elements() == 0) return;
    WithElement(images.dtype(), [&]<typename T>() {
      const auto* from = static_cast<const T*>(images.raw_data());
      auto* to = static_cast<T*>(out.raw_data());
      const int64_t row = width * depths.num_elements();
      const int64_t image = images.dim(1) * images.dim(2) * images.dim(3);
      ctx.ParallelFor(images.dim(0) * height, static_cast<double>(row),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t r = begin; r < end; ++r) {
                          RowOfPatches(from + r / height * image, images.shape(), r % height, width,
                                       to + r * row);
                        }
                      });
    });
  }

 private:
  static PatchWindow Window(const KernelInit& init, int d) {
    const auto at = [&](const char* name) {
      const auto& values = init.attr<std::vector<int64_t>>(name);
      if (values.size() != 4 || values[0] != 1 || values[3] != 1 || values[d] <= 0 ||
          values[d] > std::numeric_limits<int32_t>::max()) {
        throw InvalidArgument("{} must be [1, rows, columns, 1] with positive rows and columns",
                              name);
      }
      return values[d];
    };
    return {at("ksizes"), at("strides"), at("rates"), init.attr<std::string>("padding") == "SAME"};
  }

  template <typename T>
  void RowOfPatches(const T* image, const Shape& shape, int64_t patch_y, int64_t width,
                    T* to) const {
    const int64_t channels = shape[3];
    const int64_t top = rows_.Start(shape[1]) + patch_y * rows_.stride;
    for (int64_t patch_x = 0; patch_x < width; ++patch_x) {
      const int64_t left = columns_.Start(shape[2]) + patch_x * columns_.stride;
      for (int64_t i = 0; i < rows_.size; ++i) {
        const int64_t y = top + i * rows_.rate;
        for (int64_t j = 0; j < columns_.size; ++j, to += channels) {
          const int64_t x = left + j * columns_.rate;
          if (y < 0 || y >= shape[1] || x < 0 || x >= shape[2]) {
            std::fill_n(to, channels, T{});
          } else {
            std::copy_n(image + (y * shape[2] + x) * channels, channels, to);
          }
        }
      }
    }
  }

  const PatchWindow rows_, columns_;
};

}  // namespace

void RegisterPatchesCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("ExtractImagePatches").Make<PatchesKernel>());
}

}  // namespace sextant
