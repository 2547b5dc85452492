#include "sextant/ops/random/candidate_sampler.h"

#include "sextant/base/error.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/scope.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/random/random.h"

namespace sextant {
namespace {

int64_t NumTrue(Output true_classes) {
  const PartialShape& shape = true_classes.shape();
  if (!shape.rank_known() || shape.rank() != 2 || shape[1] < 1) {
    throw InvalidArgument("true_classes must have the shape [batch, num_true], not {}",
                          shape.ToString());
  }
  return shape[1];
}

Candidates Sample(const char* op, Output true_classes, const CandidateSamplerOptions& options) {
  const RandomSeeds seeds = MakeRandomSeeds(CurrentGraph(), options.seed);
  const auto outputs = OpBuilder(op)
                           .Input(true_classes)
                           .Attr("num_true", NumTrue(true_classes))
                           .Attr("num_sampled", options.num_sampled)
                           .Attr("unique", options.unique)
                           .Attr("range_max", options.range_max)
                           .Attr("seed", seeds.seed)
                           .Attr("seed2", seeds.seed2)
                           .BuildAll();
  return {outputs[0], outputs[1], outputs[2]};
}

void SamplerShape(ShapeContext& c) {
  const PartialShape sampled{c.attr<int64_t>("num_sampled")};
  PartialShape classes = c.InputOfRank(0, 2);
  if (!classes.rank_known()) classes = PartialShape::UnknownOfRank(2);
  classes.set_dim(1, c.attr<int64_t>("num_true"));
  c.set_output(0, sampled);
  c.set_output(1, classes);
  c.set_output(2, sampled);
}

void HitsShape(ShapeContext& c) {
  c.InputOfRank(0, 2);
  c.InputOfRank(1, 1);
  for (int i = 0; i < 3; ++i) c.set_output(i, PartialShape::UnknownOfRank(1));
}

}  // namespace

Candidates LogUniformCandidateSampler(Output true_classes, const CandidateSamplerOptions& options) {
  return Sample("LogUniformCandidateSampler", true_classes, options);
}
Candidates UniformCandidateSampler(Output true_classes, const CandidateSamplerOptions& options) {
  return Sample("UniformCandidateSampler", true_classes, options);
}
AccidentalHits ComputeAccidentalHits(Output true_classes, Output sampled_candidates) {
  const auto outputs = OpBuilder("ComputeAccidentalHits")
                           .Input(true_classes)
                           .Input(sampled_candidates)
                           .Attr("num_true", NumTrue(true_classes))
                           .BuildAll();
  return {outputs[0], outputs[1], outputs[2]};
}

void RegisterCandidateSampler(OpRegistry& registry) {
  const auto add = [&](const char* name, const char* range, const char* doc) {
    registry.Add(OpDef(name)
                     .Inputs("true_classes:int64")
                     .Outputs("sampled_candidates:int64, true_expected_count:float, "
                              "sampled_expected_count:float")
                     .Attrs(fmt::format("num_true:int>=1; num_sampled:int>=1; unique:bool; {}"
                                        "seed:int=0; seed2:int=0",
                                        range))
                     .Stateful()
                     .Doc(doc)
                     .Shape(SamplerShape)
                     .NotDifferentiable("random integers"));
  };
  add("LogUniformCandidateSampler", "range_max:int>=1; ",
      "Draws classes, low ones more often, and tells how often each is expected.");
  add("UniformCandidateSampler", "range_max:int>=1; ",
      "Draws classes, all alike, and tells how often each is expected.");
  add("AllCandidateSampler", "", "Gives the classes 0 to num_sampled - 1, each expected once.");
  registry.Add(OpDef("ComputeAccidentalHits")
                   .Inputs("true_classes:int64, sampled_candidates:int64")
                   .Outputs("indices:int32, ids:int64, weights:float")
                   .Attrs("num_true:int; seed:int=0; seed2:int=0")
                   .Doc("Where sampled classes are true ones.")
                   .Shape(HitsShape)
                   .NotDifferentiable("indices"));
}

}  // namespace sextant
