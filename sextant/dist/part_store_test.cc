#include "sextant/dist/part_store.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sextant/net/channel.h"
#include "sextant/net/frame_parts.h"
#include "sextant/proto/cluster.pb.h"
#include "sextant/testing/status_of.h"

namespace sextant::dist {
namespace {

TEST(PartStoreTest, JoinsThePartsOfACall) {
  PartStore store;
  const std::vector<Tensor> tensors = {Tensor(1.5f), Tensor("text")};
  const std::vector<Tensor> parts = net::CutFrame(net::EncodeFrame("", tensors), 50);
  ASSERT_GT(parts.size(), 2u);
  for (size_t i = parts.size(); i-- > 0;) store.Add({1, 7}, i, parts.size(), parts[i]);
  const std::vector<Tensor> joined = store.Take({1, 7}, parts.size());
  ASSERT_EQ(joined.size(), 2u);
  EXPECT_TRUE(joined[1].Identical(tensors[1]));
  EXPECT_EQ(StatusOf([&] { store.Take({1, 7}, parts.size()); }).code(), Code::kDataLoss);
}

TEST(PartStoreTest, MissingPartsAreAnError) {
  PartStore store;
  store.Add({1, 7}, 0, 2, Tensor(DType::kUInt8, {3}));
  EXPECT_EQ(StatusOf([&] { store.Take({1, 7}, 2); }).code(), Code::kDataLoss);
  EXPECT_EQ(StatusOf([&] { store.Add({1, 8}, 2, 2, Tensor(1)); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] {
              store.Add({1, 8}, 0, 1'000'000, Tensor(1));
            }).code(),
            Code::kInvalidArgument);
}

Tensor PartOf(const std::string& text) {
  Tensor part(DType::kUInt8, {static_cast<int64_t>(text.size())});
  std::ranges::copy(text, part.data<uint8_t>());
  return part;
}

TEST(PartStoreTest, JoinsBytes) {
  PartStore store;
  store.Add({1, 7}, 1, 3, PartOf("at th"));
  store.Add({1, 7}, 0, 3, PartOf("wh"));
  EXPECT_EQ(store.bytes(), 7u);
  store.Add({1, 7}, 2, 3, PartOf("ere is"));
  store.Add({1, 7}, 0, 3, PartOf("wh"));  // came twice
  EXPECT_EQ(store.TakeBytes({1, 7}, 3), "what there is");
  EXPECT_EQ(store.bytes(), 0u);
  store.Add({1, 8}, 0, 2, PartOf("x"));
  EXPECT_EQ(StatusOf([&] { store.TakeBytes({1, 8}, 2); }).code(), Code::kDataLoss);
  EXPECT_EQ(StatusOf([&] { store.Add({1, 8}, 0, 1, Tensor(1)); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(store.bytes(), 0u);
}

// Of senders that have died too, of whom nothing but parts has come.
TEST(PartStoreTest, PartsWhoseRequestNeverComesAreForgotten) {
  PartStore store;
  const auto before = PartStore::Clock::now();
  store.Add({1, 7}, 0, 2, PartOf("abc"));
  store.Add({1, 8}, 0, 2, PartOf("abc"));
  store.Add({2, 1}, 0, 2, PartOf("abc"));
  store.ForgetStalled(before);
  EXPECT_EQ(store.bytes(), 9u);
  store.Forget({1, 9, {8}});  // its next request
  EXPECT_EQ(store.bytes(), 6u);
  store.ForgetStalled(PartStore::Clock::now() + std::chrono::seconds(1));
  EXPECT_EQ(store.bytes(), 0u);
}

TEST(PartStoreTest, LargeAnswersStayAsLongAsTheyAreHeld) {
  PartStore store;
  const std::vector<Tensor> small = {Tensor(1)};
  EXPECT_GT(store.Answer({1, 1}, small).frame.bytes, 60u);
  EXPECT_EQ(StatusOf([&] { store.Find({1, 1}, 0); }).code(), Code::kNotFound);
  const std::vector<Tensor> large = {
      Tensor(DType::kUInt8, {static_cast<int64_t>(net::kMaxFrameBytes) + 1})};
  PartStore::StoredAnswer answer = store.Answer({1, 2}, large);
  EXPECT_LT(answer.frame.bytes, 1000u);
  EXPECT_EQ(store.Find({1, 2}, 4).bytes(), 1u + 64u);  // header and padding before the payload
  EXPECT_EQ(StatusOf([&] { store.Find({1, 2}, 5); }).code(), Code::kNotFound);
  EXPECT_EQ(store.Find({1, 2}, 0).bytes(), net::kPartBytes);
  answer.parts.reset();
  EXPECT_EQ(StatusOf([&] { store.Find({1, 2}, 0); }).code(), Code::kNotFound);
  EXPECT_EQ(store.bytes(), 0u);
}

}  // namespace
}  // namespace sextant::dist
