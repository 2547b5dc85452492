// Sources in memory: tensors, ranges, generators.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "sextant/base/export.h"
#include "sextant/data/dataset.h"

#pragma GCC visibility push(default)

namespace sextant::data {

// The element itself, once.
Dataset FromTensors(Element element);

// The rows of its tensors: {"x": [3,2], "y": [3]} gives 3 elements {"x": [2], "y": []}. Throws
// INVALID_ARGUMENT unless all have the same number of rows.
Dataset FromTensorSlices(Element element);

// start, start + step, … up to, without, stop: int64 scalars in field "value". Throws
// INVALID_ARGUMENT when step is 0.
Dataset Range(int64_t stop);
Dataset Range(int64_t start, int64_t stop, int64_t step = 1);

// Makes the elements of one iteration.
struct SEXTANT_API Generator {
  using NextFn = std::function<std::optional<Element>()>;

  template <typename Callable>
  requires std::is_invocable_r_v<std::optional<Element>, Callable&> Generator(Callable function)
      : next(std::move(function)) {}  // NOLINT: a function is a generator

  NextFn next;  // nothing: the end
  // The position as bytes, and back to it. Without them a restored iterator calls `next` as often
  // as the saved one did and drops what it gives.
  std::function<std::string()> save = nullptr;
  std::function<void(std::string_view)> restore = nullptr;
};

// Elements of `make()`, which is called for each iteration. `name` tells generators apart where a
// saved state is restored.
//
//   FromGenerator([] {
//     return [i = 0]() mutable -> std::optional<Element> { ... };
//   });
Dataset FromGenerator(std::function<Generator()> make, std::string name = "",
                      std::optional<ElementSpec> spec = std::nullopt);

}  // namespace sextant::data

#pragma GCC visibility pop
