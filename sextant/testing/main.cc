// The main function of all test programs. SEXTANT_TEST_INSTRUCTIONS ("avx2" or "sse2") names the
// largest instruction set that kernels may choose, so that a test runs as on an older processor, at
// full speed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <dnnl.hpp>
#include <string_view>

#include "hwy/targets.h"

namespace {

bool LimitInstructions(std::string_view largest) {
  // In Highway's bit masks the newer instruction sets are the lower bits.
  if (largest == "avx2") {
    hwy::DisableTargets(HWY_AVX2 - 1);
    return dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx2) == dnnl::status::success;
  }
  if (largest == "sse2") {
    hwy::DisableTargets(2 * HWY_AVX2 - 1);
    return dnnl::set_max_cpu_isa(dnnl::cpu_isa::sse41) == dnnl::status::success;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const char* largest = std::getenv("SEXTANT_TEST_INSTRUCTIONS");
  if (largest != nullptr && !LimitInstructions(largest)) {
    fmt::print(stderr, "SEXTANT_TEST_INSTRUCTIONS={} is not avx2 or sse2\n", largest);
    return 1;
  }
  return RUN_ALL_TESTS();
}
