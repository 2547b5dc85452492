#include "sextant/ops/dataset/iterator.h"

#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void GetNextShape(ShapeContext& c) {
  const auto& shapes = c.attr<std::vector<PartialShape>>("output_shapes");
  if (shapes.size() != static_cast<size_t>(c.num_outputs())) {
    throw InvalidArgument("there are {} output_shapes for {} components", shapes.size(),
                          c.num_outputs());
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, shapes[i]);
}

void MakeShape(ShapeContext& c) {
  c.InputOfRank(0, 0);
  c.InputOfRank(1, 0);
}

void ScalarToScalar(ShapeContext& c) {
  c.InputOfRank(0, 0);
  c.set_output(0, Shape());
}

}  // namespace

void RegisterIterator(OpRegistry& registry) {
  const std::string elements = "output_types:list(type)>=1; output_shapes:list(shape)>=1";
  const std::string any = "output_types:list(type)=[]>=0; output_shapes:list(shape)=[]>=0";
  constexpr const char* kHandle = "it is a handle";
  constexpr const char* kData = "elements come from outside the graph";
  for (const char* name : {"Iterator", "IteratorV2"}) {
    registry.Add(OpDef(name)
                     .Outputs("handle:resource")
                     .Attrs("shared_name:string; container:string; " + elements)
                     .Stateful()
                     .Doc("The handle of an iterator of the session.")
                     .Shape(shapes::Scalar)
                     .NotDifferentiable(kHandle));
  }
  registry.Add(OpDef("OneShotIterator")
                   .Outputs("handle:resource")
                   .Attrs("dataset_factory:func; " + elements +
                          "; container:string=''; shared_name:string=''")
                   .Stateful()
                   .Doc("The handle of an iterator over the data set that a function makes.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable(kHandle));
  registry.Add(OpDef("MakeIterator")
                   .Inputs("dataset:variant, iterator:resource")
                   .Stateful()
                   .Doc("Starts an iteration over a dataset.")
                   .Shape(MakeShape)
                   .NotDifferentiable("starts an iteration instead of giving a value"));
  for (const char* name : {"IteratorGetNext", "IteratorGetNextSync"}) {
    registry.Add(OpDef(name)
                     .Inputs("iterator:resource")
                     .Outputs("components:output_types")
                     .Attrs(elements)
                     .Stateful()
                     .Doc("The components of the next element; OUT_OF_RANGE at the end.")
                     .Shape(GetNextShape)
                     .NotDifferentiable(kData));
  }
  registry.Add(OpDef("IteratorGetNextAsOptional")
                   .Inputs("iterator:resource")
                   .Outputs("optional:variant")
                   .Attrs(elements)
                   .Stateful()
                   .Doc("The next element as an optional value, empty at the end.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable(kData));
  registry.Add(OpDef("IteratorToStringHandle")
                   .Inputs("resource_handle:resource")
                   .Outputs("string_handle:string")
                   .Stateful()
                   .Doc("The name of an iterator, for IteratorFromStringHandle.")
                   .Shape(ScalarToScalar)
                   .NotDifferentiable(kHandle));
  for (const char* name : {"IteratorFromStringHandle", "IteratorFromStringHandleV2"}) {
    registry.Add(OpDef(name)
                     .Inputs("string_handle:string")
                     .Outputs("resource_handle:resource")
                     .Attrs(any)
                     .Stateful()
                     .Doc("The handle of the iterator of that name.")
                     .Shape(ScalarToScalar)
                     .NotDifferentiable(kHandle));
  }
}

}  // namespace sextant
