#include "sextant/base/directory_name.h"

#include <gtest/gtest.h>

#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

TEST(DirectoryNameTest, RefusesWhatIsNoPartOfAPath) {
  for (const char* name : {"", "a", "census", "a b", "...", ".a", "Größe"}) {
    EXPECT_TRUE(StatusOf([&] { CheckDirectoryName("it", name); }).ok()) << name;
  }
  for (const std::string& name :
       {std::string("."), std::string(".."), std::string("a/b"), std::string("/"),
        std::string("a\nb"), std::string("a\tb"), std::string("\x1b[1m"), std::string("\xff"),
        std::string("a\0b", 3), std::string(201, 'x')}) {
    const Status status = StatusOf([&] { CheckDirectoryName("it", name); });
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << name;
    EXPECT_TRUE(status.message().starts_with("it must be a name for a directory")) << name;
  }
}

}  // namespace
}  // namespace sextant
