#include "sextant/ops/random/stateless_random.h"

#include <string>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

constexpr const char* kSeed = "Tseed:type=int64 in [int32,int64]";

Output Draw(const char* op, const ShapeInput& shape, Output seed, DType dtype) {
  return OpBuilder(op).Input(shape.tensor()).Input(seed).Attr("dtype", dtype).Build();
}

void SeededShape(ShapeContext& c) {
  c.InputOfRank(1, 1).MergeWith(PartialShape{2});
  shapes::FromShapeInput(c);
}

void KeyedShape(ShapeContext& c) {
  c.InputOfRank(1, 1);
  c.InputOfRank(2, 1);
  c.InputOfRank(3, 0);
  shapes::FromShapeInput(c);
}

void KeyCounterShape(ShapeContext& c) {
  c.InputOfRank(0, 1).MergeWith(PartialShape{2});
  c.set_output(0, PartialShape{1});
  c.set_output(1, PartialShape{2});
  if (c.num_outputs() == 3) c.set_output(2, Shape());
}

void AddOp(OpRegistry& registry, const std::string& name, const std::string& inputs,
           const std::string& attrs, const std::string& doc, void (*shape)(ShapeContext&)) {
  registry.Add(OpDef(name)
                   .Inputs(inputs)
                   .Outputs("output:dtype")
                   .Attrs(attrs)
                   .Doc(doc)
                   .Shape(shape)
                   .NotDifferentiable("the result is drawn at random"));
}

}  // namespace

Output StatelessRandomUniform(const ShapeInput& shape, Output seed,
                              const StatelessRandomOptions& options) {
  return Draw("StatelessRandomUniform", shape, seed, options.dtype);
}
Output StatelessRandomNormal(const ShapeInput& shape, Output seed,
                             const StatelessRandomOptions& options) {
  return Draw("StatelessRandomNormal", shape, seed, options.dtype);
}
Output StatelessTruncatedNormal(const ShapeInput& shape, Output seed,
                                const StatelessRandomOptions& options) {
  return Draw("StatelessTruncatedNormal", shape, seed, options.dtype);
}
Output StatelessRandomUniformInt(const ShapeInput& shape, Output seed, Output min, Output max) {
  return OpBuilder("StatelessRandomUniformInt")
      .Input(shape.tensor())
      .Input(seed)
      .Input(min)
      .Input(max)
      .Build();
}

void RegisterStatelessRandom(OpRegistry& registry) {
  const std::string real = "dtype:type=float in [half,bfloat16,float,double]; ";
  const std::string full = "dtype:type=uint64 in [int32,int64,uint32,uint64]; ";
  const std::string shape = "T:type=int32 in [int32,int64]; ";
  const std::string seeded = "shape:T, seed:Tseed";
  const std::string keyed = "shape:Tshape, key:uint64, counter:uint64, alg:int32";
  const std::string keyed_shape = "Tshape:type=int32 in [int32,int64]";
  const auto both = [&](const std::string& name, const std::string& doc) {
    AddOp(registry, name, seeded, real + shape + kSeed, doc + " A function of the seed.",
          SeededShape);
    AddOp(registry, name + "V2", keyed, real + keyed_shape, doc + " A function of key and counter.",
          KeyedShape);
  };
  both("StatelessRandomUniform", "Numbers drawn uniformly from [0, 1).");
  both("StatelessRandomNormal", "Standard normal numbers.");
  both("StatelessTruncatedNormal", "Standard normal numbers of size less than 2.");
  AddOp(registry, "StatelessRandomUniformInt", seeded + ", minval:dtype, maxval:dtype",
        std::string("dtype:type in [int32,int64]; T:type in [int32,int64]; ") + kSeed,
        "Integers drawn from [minval, maxval). A function of the seed.", SeededShape);
  AddOp(registry, "StatelessRandomUniformIntV2", keyed + ", minval:dtype, maxval:dtype",
        "dtype:type in [int32,int64,uint32,uint64]; " + keyed_shape,
        "Integers drawn from [minval, maxval). A function of key and counter.", KeyedShape);
  AddOp(registry, "StatelessRandomUniformFullInt", seeded,
        full + shape + "Tseed:type=int64 in [int32,int64,uint32,uint64]",
        "Integers with all bits random. A function of the seed.", SeededShape);
  AddOp(registry, "StatelessRandomUniformFullIntV2", keyed, full + keyed_shape,
        "Integers with all bits random. A function of key and counter.", KeyedShape);
  registry.Add(OpDef("StatelessRandomGetKeyCounter")
                   .Inputs("seed:Tseed")
                   .Outputs("key:uint64, counter:uint64")
                   .Attrs(kSeed)
                   .Doc("Key and counter that a stateless op makes of a seed.")
                   .Shape(KeyCounterShape)
                   .NotDifferentiable("integers"));
  registry.Add(OpDef("StatelessRandomGetKeyCounterAlg")
                   .Inputs("seed:Tseed")
                   .Outputs("key:uint64, counter:uint64, alg:int32")
                   .Attrs(kSeed)
                   .Doc("Key, counter and algorithm that a stateless op makes of a seed.")
                   .Shape(KeyCounterShape)
                   .NotDifferentiable("integers"));
  registry.Add(OpDef("StatelessRandomGetAlg")
                   .Outputs("alg:int32")
                   .Stateful()
                   .Doc("The number of the device's algorithm: 1, Philox.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable("integers"));
}

}  // namespace sextant
