#include "sextant/ops/math/einsum_equation.h"

#include <algorithm>

#include "sextant/base/error.h"

namespace sextant {
namespace {

EinsumTerm ParseTerm(std::string_view text, std::string_view equation) {
  EinsumTerm term;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '.') {
      term.letters += text[i];
      continue;
    }
    if (text.substr(i, 3) != "..." || term.ellipsis >= 0) {
      throw InvalidArgument("bad ellipsis in einsum subscripts '{}' of '{}'", text, equation);
    }
    term.ellipsis = static_cast<int>(term.letters.size());
    i += 2;
  }
  return term;
}

std::vector<int> LabelsOf(const EinsumTerm& term, int ellipsis_rank) {
  std::vector<int> labels;
  for (size_t i = 0; i <= term.letters.size(); ++i) {
    if (static_cast<int>(i) == term.ellipsis) {
      for (int j = ellipsis_rank - 1; j >= 0; --j) labels.push_back(EinsumEquation::kEllipsis + j);
    }
    if (i < term.letters.size()) labels.push_back(static_cast<unsigned char>(term.letters[i]));
  }
  return labels;
}

}  // namespace

std::string EinsumTerm::ToString() const {
  std::string text = letters;
  if (ellipsis >= 0) text.insert(ellipsis, "...");
  return text;
}

EinsumEquation EinsumEquation::Parse(std::string_view equation, int num_inputs) {
  const size_t arrow = equation.find("->");
  if (arrow == std::string_view::npos || equation.find("->", arrow + 2) != std::string_view::npos) {
    throw InvalidArgument("Expecting exactly one '->' in einsum equation: {}", equation);
  }
  EinsumEquation result;
  std::string_view rest = equation.substr(0, arrow);
  for (size_t comma; (comma = rest.find(',')) != std::string_view::npos;) {
    result.inputs.push_back(ParseTerm(rest.substr(0, comma), equation));
    rest.remove_prefix(comma + 1);
  }
  result.inputs.push_back(ParseTerm(rest, equation));
  result.output = ParseTerm(equation.substr(arrow + 2), equation);
  if (result.inputs.size() > 2) {
    throw InvalidArgument("Expecting 1 or 2 input subscripts in equation '{}' but got: {}",
                          equation, result.inputs.size());
  }
  if (std::ssize(result.inputs) != num_inputs) {
    throw InvalidArgument("Expecting {} inputs for equation '{}' but got: {}", result.inputs.size(),
                          equation, num_inputs);
  }
  for (char letter : result.output.letters) {
    if (std::ranges::none_of(result.inputs, [&](const EinsumTerm& term) {
          return term.letters.find(letter) != std::string::npos;
        })) {
      throw InvalidArgument("output subscript '{}' of einsum equation '{}' is in no input", letter,
                            equation);
    }
  }
  return result;
}

int EinsumEquation::EllipsisRank(int i, int rank) const {
  const int letters = static_cast<int>(inputs[i].letters.size());
  if (inputs[i].ellipsis < 0 && rank != letters) {
    throw InvalidArgument("Expected input {} to have rank {} but got: {}", i, letters, rank);
  }
  if (rank < letters) {
    throw InvalidArgument("Expected input {} to have rank at least {} but got: {}", i, letters,
                          rank);
  }
  return rank - letters;
}

std::vector<int> EinsumEquation::InputLabels(int i, int rank) const {
  return LabelsOf(inputs[i], EllipsisRank(i, rank));
}

std::vector<int> EinsumEquation::OutputLabels(int ellipsis_rank) const {
  if (ellipsis_rank > 0 && output.ellipsis < 0) {
    throw InvalidArgument(
        "Output contains {} broadcasting dimension(s) but no ellipsis (...) was found in the "
        "output "
        "subscripts '{}'",
        ellipsis_rank, output.letters);
  }
  return LabelsOf(output, ellipsis_rank);
}

void EinsumSizes::Add(const std::vector<int>& labels, const PartialShape& shape) {
  for (size_t i = 0; i < labels.size(); ++i) {
    int64_t& known = sizes_[labels[i]];
    const int64_t size = shape[static_cast<int>(i)];
    const bool repeats = labels[i] >= EinsumEquation::kEllipsis;
    if (known == kAbsent || (known == PartialShape::kUnknown && (size != 1 || !repeats)) ||
        (known == 1 && repeats)) {
      known = size;
    } else if (size != PartialShape::kUnknown && size != known && !(repeats && size == 1) &&
               known != PartialShape::kUnknown) {
      throw InvalidArgument(
          "Expected dimension {} at axis {} of the input shaped {} but got dimension {}", known, i,
          shape.ToString(), size);
    }
  }
}

}  // namespace sextant
