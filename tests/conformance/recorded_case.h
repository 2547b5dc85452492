// What the kinds of recorded cases share: reading the features of a record, comparing, counting.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sextant/base/function_ref.h"
#include "sextant/proto/example.pb.h"
#include "sextant/tensor/tensor.h"
#include "tests/conformance/compare.h"

namespace sextant::conformance {

struct Counts {
  int passed = 0;
  int failed = 0;
  int skipped = 0;

  Counts& operator+=(const Counts& other) {
    passed += other.passed;
    failed += other.failed;
    skipped += other.skipped;
    return *this;
  }
};

// Features that hold TensorProtos and names; none when the feature is missing.
std::vector<Tensor> Tensors(const proto::Example& example, const char* key);
std::vector<std::string> Names(const proto::Example& example, const char* key);
Tolerance ToleranceOf(const proto::Example& example);

// The first difference of several tensors, with the name of the tensor in front; empty when there
// is none.
std::string FirstDifference(const std::vector<Tensor>& actual, std::span<const Tensor> expected,
                            const std::vector<std::string>& names, const Tolerance& tolerance);

// Runs a case of the file in one way, which answers what went wrong; counts, and prints one line
// when it did.
void Try(const std::string& path, const std::string& name, const char* way_name, Counts& counts,
         FunctionRef<std::string()> way);

}  // namespace sextant::conformance
