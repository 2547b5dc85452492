#include "sextant/base/error.h"
#include "sextant/graph/op_registry.h"
#include "sextant/ops/blocked/blocked_shape.h"

namespace sextant {
namespace {

const char* const kReason = "made only after gradients";

void PadShape(ShapeContext& c) {
  const PartialShape x = c.InputOfRank(0, 5);
  const auto& paddings = c.attr<std::vector<int64_t>>("paddings");
  if (paddings.size() != 8)
    throw InvalidArgument("paddings has {} entries, not 8", paddings.size());
  if (!x.fully_known()) return c.set_output(0, PartialShape{-1, -1, -1, -1, x[4]});
  const int64_t block = x[4];
  const auto padded = [&](int64_t size, int i) {
    return size + paddings[2 * i] + paddings[2 * i + 1];
  };
  c.set_output(0, PartialShape{padded(x[0], 0), padded(x[1] * block, 3) / block, padded(x[2], 1),
                               padded(x[3], 2), block});
}

}  // namespace

void RegisterBlockedLayout(OpRegistry& registry) {
  const char* attrs = "block:int>=1; data_format:string='NHWC'";
  registry.Add(OpDef("_ToBlocked")
                   .Inputs("x:float")
                   .Outputs("y:float")
                   .Attrs(attrs)
                   .Doc("Images in the blocked layout. REQUIRES: block divides the channels.")
                   .Shape([](ShapeContext& c) {
                     c.set_output(
                         0, BlockedForm(c.InputOfRank(0, 4), c.attr<std::string>("data_format"),
                                        c.attr<int64_t>("block")));
                   })
                   .NotDifferentiable(kReason));
  registry.Add(OpDef("_FromBlocked")
                   .Inputs("x:float")
                   .Outputs("y:float")
                   .Attrs(attrs)
                   .Doc("The inverse of _ToBlocked.")
                   .Shape([](ShapeContext& c) {
                     c.set_output(
                         0, PlainForm(c.InputOfRank(0, 5), c.attr<std::string>("data_format")));
                   })
                   .NotDifferentiable(kReason));
  registry.Add(
      OpDef("_BlockedPad")
          .Inputs("x:float")
          .Outputs("y:float")
          .Attrs("paddings:list(int)")
          .Doc("Zeros before and after n, h, w and c, in this order; negative numbers cut off.")
          .Shape(PadShape)
          .NotDifferentiable(kReason));
}

}  // namespace sextant
