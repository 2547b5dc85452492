#include "sextant/nn/sum_of_all.h"

#include <numeric>

#include "sextant/graph/op_builder.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/math/range.h"
#include "sextant/ops/math/reduce.h"

namespace sextant {

Output SumOfAll(Output x) {
  if (!x.shape().rank_known()) {
    return Sum(x, Range(Const(Tensor(int32_t{0})), Rank(x), Const(Tensor(int32_t{1}))));
  }
  if (x.shape().rank() == 0) return x;
  std::vector<int64_t> axes(x.shape().rank());
  std::iota(axes.begin(), axes.end(), 0);
  return Sum(x, axes);
}

}  // namespace sextant
