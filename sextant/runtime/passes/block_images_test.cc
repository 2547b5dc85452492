#include "sextant/runtime/passes/pass_test.h"

namespace sextant {
namespace {

class BlockImagesTest : public PassTest {
 protected:
  Output Images() { return Feed({2, 8, 9, 16}); }
  Output Convolution(Output x) { return Conv2D(x, Feed({3, 3, 16, 16}), {.padding = "SAME"}); }
};

TEST_F(BlockImagesTest, ImagesStayBlockedFromConvolutionToConvolution) {
  Copy({Convolution(Relu(Convolution(Images())))});
  Apply(BlockImages, 2e-5);
  EXPECT_EQ(Before("Conv2D"), 2);
  EXPECT_EQ(After("Conv2D"), 0);
  EXPECT_EQ(After("_BlockedConv2D"), 2);
  // One conversion at the end, at most one at the beginning.
  EXPECT_LE(After("Transpose"), 2);
}

TEST_F(BlockImagesTest, ChannelsThatAreNotWholeBlocksStayPlain) {
  Copy({Conv2D(Images(), Feed({3, 3, 16, 5}), {.padding = "SAME"})});
  Apply(BlockImages);
  EXPECT_EQ(After("Conv2D"), 1);
}

TEST_F(BlockImagesTest, ADeviceWithoutBlocksKeepsThePlainLayout) {
  Copy({Convolution(Images())});
  class Plain : public Device {
   public:
    Plain() : Device(DeviceName::Parse("/device:CPU:0")) {}
    Allocator& allocator() override { return HostAllocator(); }
    int64_t memory_bytes() const override { return 1 << 30; }
    Tensor FromHost(const Tensor& value) override { return value; }
    Tensor ToHost(const Tensor& value) override { return value; }
  };
  Apply([](Graph& graph, const Device&) { BlockImages(graph, Plain()); });
  EXPECT_EQ(After("Conv2D"), 1);
}

// Winograd's algorithm rounds more.
TEST_F(BlockImagesTest, WinogradIsAllowedForBlockedConvolutionsOnly) {
  Copy({Convolution(Images()), Conv2D(Images(), Feed({3, 3, 16, 5}), {.padding = "SAME"})});
  Apply(BlockImages, 2e-5);
  Apply(AllowWinograd, 1e-4);
  int allowed = 0;
  for (int id = 0; id < graph().num_nodes(); ++id) {
    const Attr* winograd = graph().node(id)->FindAttr("winograd");
    if (winograd && winograd->Get<bool>()) ++allowed;
  }
  EXPECT_EQ(allowed, 1);
}

}  // namespace
}  // namespace sextant
