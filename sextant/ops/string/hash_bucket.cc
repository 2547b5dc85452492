#include "sextant/ops/string/hash_bucket.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void FingerprintShape(ShapeContext& c) {
  const PartialShape data = c.InputOfRankAtLeast(0, 1);
  c.InputOfRank(1, 0);
  c.set_output(0, {data.rank_known() ? data[0] : PartialShape::kUnknown, 8});
}

}  // namespace

Output StringToHashBucket(Output x, int64_t num_buckets) {
  return OpBuilder("StringToHashBucket").Input(x).Attr("num_buckets", num_buckets).Build();
}
Output StringToHashBucketFast(Output x, int64_t num_buckets) {
  return OpBuilder("StringToHashBucketFast").Input(x).Attr("num_buckets", num_buckets).Build();
}
Output StringToHashBucketStrong(Output x, int64_t num_buckets, int64_t key0, int64_t key1) {
  return OpBuilder("StringToHashBucketStrong")
      .Input(x)
      .Attr("num_buckets", num_buckets)
      .Attr("key", std::vector<int64_t>{key0, key1})
      .Build();
}
Output Fingerprint(Output data) {
  return OpBuilder("Fingerprint").Input(data).Input(Const(Tensor("farmhash64"))).Build();
}

void RegisterHashBucket(OpRegistry& registry) {
  const auto add = [&](const char* name, const char* input, const char* attrs, const char* doc) {
    registry.Add(OpDef(name)
                     .Inputs(input)
                     .Outputs("output:int64")
                     .Attrs(attrs)
                     .Doc(doc)
                     .Shape(shapes::Unchanged)
                     .NotDifferentiable("text has no derivative"));
  };
  add("StringToHashBucket", "string_tensor:string", "num_buckets:int>=1",
      "A bucket for each string, by an old hash that is not the same for all versions.");
  add("StringToHashBucketFast", "input:string", "num_buckets:int>=1",
      "A bucket for each string, by FarmHash's fingerprint.");
  add("StringToHashBucketStrong", "input:string", "num_buckets:int>=1; key:list(int)",
      "A bucket for each string, by SipHash with the given key.");
  registry.Add(OpDef("Fingerprint")
                   .Inputs("data:T, method:string")
                   .Outputs("fingerprint:uint8")
                   .Attrs("T:type")
                   .Doc("The 8 bytes of a fingerprint of each row.")
                   .Shape(FingerprintShape)
                   .NotDifferentiable("the result is a hash"));
}

}  // namespace sextant
