#include "sextant/graph/graph.h"
#include "sextant/graph/op_builder.h"
#include "sextant/ops/dataset/dataset_resource.h"
#include "sextant/ops/dataset/iterator.h"

namespace sextant {
namespace {

Tensor HandleOf(const data::Dataset& dataset) {
  return Tensor::Scalar(ResourceHandle{.device = "",
                                       .container = "",
                                       .name = "",
                                       .type_name = DatasetResource::kTypeName,
                                       .resource = std::make_shared<DatasetResource>(dataset)});
}

}  // namespace

Output IteratorHandle(const IteratorSignature& signature, const data::Dataset& dataset,
                      const std::string& name) {
  OpBuilder builder("IteratorV2");
  builder.Attr("shared_name", "")
      .Attr("container", "")
      .Attr("output_types", signature.types)
      .Attr("output_shapes", signature.shapes)
      .Name(name);
  if (dataset.valid()) builder.Attr(DatasetResource::kAttr, HandleOf(dataset));
  return builder.Build();
}

Operation MakeIterator(Output iterator, const data::Dataset& dataset, const std::string& name) {
  // The op takes a dataset made by ops; the attribute stands in for it.
  const Output none = Const(Tensor(DType::kVariant, Shape()), "dataset");
  return OpBuilder("MakeIterator")
      .Input(none)
      .Input(iterator)
      .Attr(DatasetResource::kAttr, HandleOf(dataset))
      .Name(name)
      .BuildOperation();
}

std::vector<Output> IteratorGetNext(Output iterator, const std::string& name) {
  const Node& node = *iterator.node();
  return OpBuilder("IteratorGetNext")
      .Input(iterator)
      .Attr("output_types", node.attr<std::vector<DType>>("output_types"))
      .Attr("output_shapes", node.attr<std::vector<PartialShape>>("output_shapes"))
      .Name(name)
      .BuildAll();
}

}  // namespace sextant
