#include "sextant/ops/math/einsum.h"

#include <algorithm>
#include <set>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/broadcast_to.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/strided_slice.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/complex.h"
#include "sextant/ops/math/einsum_equation.h"
#include "sextant/ops/math/reduce.h"

namespace sextant {
namespace {

void EinsumShape(ShapeContext& c) {
  const auto equation = EinsumEquation::Parse(c.attr<std::string>("equation"), c.num_inputs());
  EinsumSizes sizes;
  int ellipsis_rank = 0;
  bool known = true;
  for (int i = 0; i < c.num_inputs(); ++i) {
    PartialShape shape = c.input(i);
    if (!shape.rank_known()) {
      if (equation.inputs[i].ellipsis >= 0) known = false;
      shape = PartialShape::UnknownOfRank(static_cast<int>(equation.inputs[i].letters.size()));
    }
    if (!known) continue;
    sizes.Add(equation.InputLabels(i, shape.rank()), shape);
    ellipsis_rank = std::max(ellipsis_rank, equation.EllipsisRank(i, shape.rank()));
  }
  if (!known && equation.output.ellipsis >= 0) return c.set_output(0, PartialShape());
  if (!known) {
    return c.set_output(
        0, PartialShape::UnknownOfRank(static_cast<int>(equation.output.letters.size())));
  }
  std::vector<int64_t> shape;
  for (int label : equation.OutputLabels(ellipsis_rank)) shape.push_back(sizes[label]);
  c.set_output(0, PartialShape(shape));
}

std::string Arrow(const std::string& from, const std::string& to) { return from + "->" + to; }

// The size along the dimension of a letter, the first one if there are several: element of the
// shape as a vector of length 1.
Output SizeOf(char letter, const EinsumTerm& term, Output shape) {
  const int at = static_cast<int>(term.letters.find(letter));
  // What stands behind an ellipsis is counted from the end.
  const bool behind = term.ellipsis >= 0 && at >= term.ellipsis;
  const int64_t axis = behind ? at - static_cast<int64_t>(term.letters.size()) : at;
  return StridedSlice(shape, {axis}, {axis + 1}, {1}, {.end_mask = axis == -1 ? 1 : 0});
}

EinsumTerm Without(const EinsumTerm& term, const std::set<char>& letters) {
  EinsumTerm rest;
  for (size_t i = 0; i <= term.letters.size(); ++i) {
    if (static_cast<int>(i) == term.ellipsis) rest.ellipsis = static_cast<int>(rest.letters.size());
    if (i < term.letters.size() && !letters.contains(term.letters[i]))
      rest.letters += term.letters[i];
  }
  return rest;
}

// Letters of "term" that occur in none of "others".
std::set<char> LettersOnlyIn(const EinsumTerm& term, const std::vector<EinsumTerm>& others) {
  std::set<char> letters(term.letters.begin(), term.letters.end());
  for (const EinsumTerm& other : others) {
    for (char letter : other.letters) letters.erase(letter);
  }
  return letters;
}

// The gradient of x, of subscripts "term", given that of the sum over "summed", of subscripts
// "rest": repeated along the letters summed, then put in the order of x.
Output UndoSum(Output grad, const EinsumTerm& rest, Output x, const EinsumTerm& term,
               const std::set<char>& summed) {
  const std::string letters(summed.begin(), summed.end());
  std::vector<Output> sizes;
  for (char letter : letters) sizes.push_back(SizeOf(letter, term, ShapeOf(x)));
  sizes.push_back(ShapeOf(grad));
  const Output repeated = sizes.size() == 1 ? grad : BroadcastTo(grad, Concat(sizes, 0));
  return Einsum({repeated}, Arrow(letters + rest.ToString(), term.ToString()));
}

// The gradient of x in "x,other->out", without regard to broadcasting.
Output GradientOf(Output grad, const EinsumTerm& out, Output x, const EinsumTerm& term,
                  Output other, const EinsumTerm& other_term) {
  const std::set<char> summed = LettersOnlyIn(term, {other_term, out});
  const EinsumTerm rest = Without(term, summed);
  const Output product =
      Einsum({grad, other}, Arrow(out.ToString() + "," + other_term.ToString(), rest.ToString()));
  return summed.empty() ? product : UndoSum(product, rest, x, term, summed);
}

// The part of the shape of x that its ellipsis stands for.
Output EllipsisShape(Output shape, const EinsumTerm& term) {
  const int64_t after = static_cast<int64_t>(term.letters.size()) - term.ellipsis;
  return StridedSlice(shape, {term.ellipsis}, {-after}, {1}, {.end_mask = after == 0 ? 1 : 0});
}

void EinsumGradient(GradientContext& c) {
  const auto equation = EinsumEquation::Parse(c.attr<std::string>("equation"), c.num_inputs());
  const EinsumTerm& out = equation.output;
  if (c.num_inputs() == 1) {
    const EinsumTerm& term = equation.inputs[0];
    return c.set(0, UndoSum(c.grad(), out, c.input(0), term, LettersOnlyIn(term, {out})));
  }
  EinsumTerm terms[] = {equation.inputs[0], equation.inputs[1]};
  const Output inputs[] = {c.input(0), c.input(1)};
  for (EinsumTerm& term : terms) {  // an ellipsis that stands for nothing
    if (out.ellipsis >= 0 && term.ellipsis < 0)
      term.ellipsis = static_cast<int>(term.letters.size());
  }
  for (int i = 0; i < 2; ++i) {
    c.set(i, GradientOf(c.grad(), out, inputs[i], terms[i], Conj(inputs[1 - i]), terms[1 - i]));
  }
  if (out.ellipsis < 0) return;
  const Output shapes[] = {ShapeOf(inputs[0]), ShapeOf(inputs[1])};
  const auto axes =
      BroadcastGradientArgs(EllipsisShape(shapes[0], terms[0]), EllipsisShape(shapes[1], terms[1]));
  const Output summed[] = {axes.first, axes.second};
  for (int i = 0; i < 2; ++i) {
    const Output shifted = summed[i] + Const(static_cast<int32_t>(terms[i].ellipsis));
    c.set(i, Reshape(Sum(c.input_gradients()[i], shifted), shapes[i]));
  }
}

}  // namespace

Output Einsum(const std::vector<Output>& inputs, const std::string& equation) {
  return OpBuilder("Einsum").Input(inputs).Attr("equation", equation).Build();
}

void RegisterEinsum(OpRegistry& registry) {
  registry.Add(
      OpDef("Einsum")
          .Inputs("inputs:N*T")
          .Outputs("output:T")
          .Attrs("equation:string; N:int>=1; T:type")
          .Doc("Sum of products of one or two tensors, described by an equation of subscripts.")
          .Shape(EinsumShape)
          .Gradient(EinsumGradient));
}

}  // namespace sextant
