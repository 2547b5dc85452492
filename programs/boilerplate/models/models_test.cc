// A pair that cannot fit says why; those that can are in boilerplate_test.py.
#include "boilerplate/models/models.h"

#include <gtest/gtest.h>

namespace boilerplate {
namespace {

std::string WhyNot(const std::string& model, const ImageShape& images) {
  try {
    MakeModel(model, "Stamps", images);
    return "";
  } catch (const sextant::Error& error) {
    EXPECT_EQ(error.code(), sextant::Code::kInvalidArgument);
    return error.message();
  }
}

TEST(ModelsTest, SaysWhyAModelDoesNotFitADataSet) {
  EXPECT_EQ(WhyNot("ResNet", {.height = 30, .width = 32, .channels = 3, .classes = 10}),
            "model ResNet does not fit data set Stamps, images of 30x32x3: its shortcuts halve "
            "images twice: height and width must be multiples of 4");
  EXPECT_EQ(WhyNot("Simple", {.height = 32, .width = 3, .channels = 1, .classes = 10}),
            "model Simple does not fit data set Stamps, images of 32x3x1: its two poolings halve "
            "images of at least 4x4 pixels");
  for (const std::string& model : ModelNames())
    EXPECT_EQ(WhyNot(model, {.height = 32, .width = 28, .channels = 2, .classes = 3}), "") << model;
}

}  // namespace
}  // namespace boilerplate
