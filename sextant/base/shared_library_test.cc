#include "sextant/base/shared_library.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/base/error.h"

namespace sextant {
namespace {

TEST(SharedLibraryTest, FindsFunctions) {
  const SharedLibrary library("libm.so.6", "libc6");
  const auto power = library.Find<double(double, double)>("pow");
  EXPECT_EQ(power(2, 10), 1024);
  EXPECT_THROW(library.Find<void()>("no_such_function"), Error);
}

TEST(SharedLibraryTest, NamesThePackage) {
  try {
    const SharedLibrary library("libnone.so.1", "libnone1");
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kUnavailable);
    EXPECT_TRUE(e.message().ends_with("install the package libnone1")) << e.message();
  }
}

}  // namespace
}  // namespace sextant
