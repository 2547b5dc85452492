#include "sextant/ops/string/hash_bucket.h"

#include "sextant/ops/string/string_test.h"

namespace sextant {
namespace {

using HashBucketTest = StringTest;

// Answers of TensorFlow.
TEST_F(HashBucketTest, Fingerprints) {
  const Tensor fingerprints = Run(Fingerprint(Text({"a", "bc"})));
  EXPECT_EQ(fingerprints.shape(), (Shape{2, 8}));
  EXPECT_EQ(fingerprints.data<uint8_t>()[0], 227);
  EXPECT_EQ(fingerprints.data<uint8_t>()[15], 83);
  const Output matrix = Const(Tensor::Of<std::string>({1, 2}, {"a", "bc"}));
  EXPECT_EQ(Run(Fingerprint(matrix)).data<uint8_t>()[0], 85);
  EXPECT_EQ(Run(Fingerprint(Const(Tensor::Of<int32_t>({1, 2}, {1, 2})))).data<uint8_t>()[0], 76);
}

// Answers of TensorFlow.
TEST_F(HashBucketTest, Buckets) {
  const Output x = Text({"", "a", "hello"});
  for (const int64_t bucket : RunInts(StringToHashBucket(x, 1))) EXPECT_EQ(bucket, 0);
  EXPECT_EQ(RunInts(StringToHashBucketFast(x, 100)), (Ints{63, 39, 96}));
  EXPECT_EQ(RunInts(StringToHashBucketStrong(x, 100, 123, 456)), (Ints{14, 28, 79}));
  EXPECT_EQ(RunInts(StringToHashBucket(x, 100)), (Ints{99, 68, 38}));
}

}  // namespace
}  // namespace sextant
