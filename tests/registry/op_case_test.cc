// Every case of the op case tables: values, shapes, gradients, optimisations, threads and element
// types.
#include "sextant/testing/op_case.h"

#include <gtest/gtest.h>

#include "sextant/testing/case_checks.h"
#include "sextant/testing/recorded_values.h"

namespace sextant::testing {

void PrintTo(const OpCase& op_case, std::ostream* out) {
  *out << op_case.where << ": " << op_case.text;
}

namespace {

// Errors in the tables are reported by TablesAreReadable; throwing here would end the program.
std::vector<OpCase> AllCases() {
  try {
    return ReadOpCases(SEXTANT_SOURCE_DIR "/sextant/ops");
  } catch (const Error&) {
    return {};
  }
}

TEST(OpCaseTest, TablesAreReadable) {
  EXPECT_NO_THROW(EXPECT_GT(ReadOpCases(SEXTANT_SOURCE_DIR "/sextant/ops").size(), 500));
}

class EveryOpCaseTest : public ::testing::TestWithParam<OpCase> {};

TEST_P(EveryOpCaseTest, InfersTheShapesOfItsResults) { EXPECT_EQ(CheckShapes(GetParam()), ""); }
TEST_P(EveryOpCaseTest, HasTheGradientsOfFiniteDifferences) {
  EXPECT_EQ(CheckGradients(GetParam()), "");
}
TEST_P(EveryOpCaseTest, GivesTheSameBitsOptimised) {
  EXPECT_EQ(CheckOptimizations(GetParam()), "");
}
TEST_P(EveryOpCaseTest, GivesTheSameBitsOnAllThreads) { EXPECT_EQ(CheckThreads(GetParam()), ""); }
TEST_P(EveryOpCaseTest, RunsInEveryTypeOfItsKernels) { EXPECT_EQ(CheckTypes(GetParam()), ""); }

TEST_P(EveryOpCaseTest, GivesTheRecordedValues) {
  static const auto* recorded = new std::map<std::string, RecordedCase>(
      ReadRecordedCases(SEXTANT_SOURCE_DIR "/testdata/op_case_values.tfrecord"));
  const auto found = recorded->find(GetParam().text);
  ASSERT_NE(found, recorded->end())
      << "the case has no recorded value: tools/golden/README.md says how to record it";
  EXPECT_EQ(CheckValues(GetParam(), found->second), "");
}

INSTANTIATE_TEST_SUITE_P(Tables, EveryOpCaseTest, ::testing::ValuesIn(AllCases()),
                         [](const ::testing::TestParamInfo<OpCase>& test) {
                           return fmt::format("{}_{}", test.param.call.op, test.index);
                         });

}  // namespace
}  // namespace sextant::testing
