#include "sextant/runtime/passes/pass_test.h"

namespace sextant {
namespace {

using FuseProductsTest = PassTest;

TEST_F(FuseProductsTest, ASumOfProductsOfOneSizeBecomesOneNode) {
  ASSERT_TRUE(device().SumsProducts(32, 48, 40));
  std::vector<Output> products;
  for (int i = 0; i < 3; ++i) products.push_back(MatMul(Feed({32, 40}), Feed({40, 48})));
  Copy({AddN(products)});
  Apply(FuseProducts, 1e-5);
  EXPECT_EQ(Before("MatMul"), 3);
  EXPECT_EQ(After("MatMul"), 0);
  EXPECT_EQ(After("_ProductSum"), 1);
}

TEST_F(FuseProductsTest, ProductsOfOtherSizesOrWithOtherReadersStay) {
  const Output a = MatMul(Feed({32, 40}), Feed({40, 48}));
  const Output b = MatMul(Feed({32, 20}), Feed({20, 48}));
  const Output c = MatMul(Feed({32, 40}), Feed({40, 48}));
  Copy({AddN({a, b}), AddN({c, c})});
  Apply(FuseProducts);
  EXPECT_EQ(After("MatMul"), 3);
}

}  // namespace
}  // namespace sextant
