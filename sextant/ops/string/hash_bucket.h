// StringToHashBucket, -Fast, -Strong, Fingerprint: hashes of strings and tensors.
#pragma once

#include <cstdint>

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// hash(x) mod num_buckets, as int64. The hash is TensorFlow's Hash64; better use one of the others.
Output StringToHashBucket(Output x, int64_t num_buckets);
// The same with FarmHash's fingerprint.
Output StringToHashBucketFast(Output x, int64_t num_buckets);
// The same with SipHash and a secret key of two words, against collisions made on purpose.
Output StringToHashBucketStrong(Output x, int64_t num_buckets, int64_t key0, int64_t key1);
// FarmHash's fingerprint of each row of the first dimension, as a row of 8 bytes.
Output Fingerprint(Output data);

}  // namespace sextant

#pragma GCC visibility pop
