#include "sextant/base/copy_bytes.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace sextant {
namespace {

TEST(CopyBytesTest, CopiesEverySize) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{4096}, size_t{524287}, size_t{524289},
                            size_t{1} << 21, (size_t{3} << 20) + 5}) {
    std::string from(size, '\0'), to(size + 2, '#');
    for (size_t i = 0; i < size; ++i) from[i] = static_cast<char>(i * 2654435761u >> 7);
    CopyBytes(to.data() + 1, from.data(), size);
    EXPECT_EQ(to, "#" + from + "#") << size;
  }
}

TEST(CopyBytesTest, JoinsPieces) {
  std::string whole((size_t{2} << 20) + 77, '\0');
  for (size_t i = 0; i < whole.size(); ++i) whole[i] = static_cast<char>(i * 2654435761u >> 9);
  std::vector<std::string_view> pieces;
  for (size_t at = 0, size = 0; at < whole.size(); at += size, size = size * 7 % 100'003 + 1)
    pieces.push_back(std::string_view(whole).substr(at, size));
  std::string to(whole.size() + 2, '#');
  CopyPieces(to.data() + 1, pieces);
  EXPECT_TRUE(to == "#" + whole + "#");
}

}  // namespace
}  // namespace sextant
