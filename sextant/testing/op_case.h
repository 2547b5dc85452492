// The op case tables: one line of text per case, in the files *cases.txt beside the op families.
//
//   MatMul(double[2,3], double[3,4]; transpose_a=false)          inputs; attributes
//
// Inputs:
//   double[2,3]          random, uniform in [-2,2]; integers in 0..9; bools either
//   double[2,3]:0.2..3   random in another range; of integers both ends are included
//   int32{1,0,2}         a vector; int32[2,2]{1,0,2,3} any shape
//   int32=5              a scalar; bool=true, string="x"
//   #int32{1,0}          a Const node, not a Placeholder: the shape function sees the value
//   @double[2,3]         the handle of a variable with this value
//   &double[2,3]         a reference to a variable with this value
//   Op(...)              the first output of another op; Op(...):1 the second
//   [a, b]               a list
//
// Attributes are ints, floats, true, false, "strings", element types by name, shapes ([2,?], and ?
// alone for unknown rank) and lists {a,b}. Those that inputs or defaults give may be left out.
// Marks at the end: !nograd, no finite differences; !noshape, the shape function knows less than
// the result even when all inputs are constants. Comment lines start with "//".
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/graph/attr.h"
#include "sextant/tensor/tensor.h"

namespace sextant::testing {

struct CaseInput;

struct CaseCall {
  std::string op;
  std::vector<CaseInput> inputs;
  AttrMap attrs;
};

struct CaseInput {
  enum class Kind { kPlaceholder, kConst, kVariable, kRefVariable, kList, kCall };
  Kind kind = Kind::kPlaceholder;
  Tensor value;  // of all but kList and kCall
  std::vector<CaseInput> list;
  std::shared_ptr<const CaseCall> call;
  int output = 0;  // of the call
};

struct OpCase {
  std::string text;   // the line as written
  std::string where;  // "sextant/ops/math/cases.txt:12"
  CaseCall call;
  bool check_gradient = true;
  bool exact_shape = true;
};

// Throws INVALID_ARGUMENT, with the position in the text, on what the grammar above does not know.
// Random values depend on the text alone.
OpCase ParseOpCase(std::string_view text);

// All cases of the files *cases.txt below the folder, in the order of the file names. Throws as
// ParseOpCase with the place in front.
std::vector<OpCase> ReadOpCases(const std::string& folder);

}  // namespace sextant::testing
