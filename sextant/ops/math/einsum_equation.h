// The equation of an Einsum: which dimensions of the inputs and of the output go together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/tensor/shape.h"

namespace sextant {

// The subscripts of one tensor: a letter per dimension and at most one "..." for any number of
// them.
struct EinsumTerm {
  std::string letters;
  int ellipsis = -1;  // before which letter it stands; -1 = there is none

  std::string ToString() const;
};

struct EinsumEquation {
  // A label stands for a set of dimensions of the same size: a letter, or kEllipsis + how many
  // dimensions of the ellipsis follow.
  static constexpr int kEllipsis = 256;
  static constexpr int kNumLabels = kEllipsis + kMaxRank;

  std::vector<EinsumTerm> inputs;
  EinsumTerm output;

  // Throws INVALID_ARGUMENT on a malformed equation, or one for another number of inputs.
  static EinsumEquation Parse(std::string_view equation, int num_inputs);

  // The labels of the dimensions of input i when it has this rank. Throws INVALID_ARGUMENT when it
  // cannot have it.
  std::vector<int> InputLabels(int i, int rank) const;
  // The labels of the output when an ellipsis stands for this number of dimensions.
  std::vector<int> OutputLabels(int ellipsis_rank) const;
  // For how many dimensions the ellipsis of input i stands.
  int EllipsisRank(int i, int rank) const;
};

// The size of every label, from shapes that may not be fully known.
class EinsumSizes {
 public:
  // Sizes of one label must be equal, except that 1 is repeated in an ellipsis. Throws
  // INVALID_ARGUMENT.
  void Add(const std::vector<int>& labels, const PartialShape& shape);
  // kUnknown when it is not known.
  int64_t operator[](int label) const { return sizes_[label]; }

 private:
  std::vector<int64_t> sizes_ = std::vector<int64_t>(EinsumEquation::kNumLabels, kAbsent);
  static constexpr int64_t kAbsent = -2;
};

}  // namespace sextant
