#include "sextant/graph/graph.h"
#include "sextant/graph/op_builder.h"
#include "sextant/ops/dataset/element_source.h"
#include "sextant/ops/dataset/iterator.h"

namespace sextant {
namespace {

Tensor SourceHandle(const std::shared_ptr<const ElementSource>& source) {
  return Tensor::Scalar(ResourceHandle{.device = "",
                                       .container = "",
                                       .name = "",
                                       .type_name = ElementSource::kTypeName,
                                       .resource = std::const_pointer_cast<ElementSource>(source)});
}

}  // namespace

Output IteratorHandle(const IteratorSignature& signature,
                      const std::shared_ptr<const ElementSource>& source, const std::string& name) {
  OpBuilder builder("IteratorV2");
  builder.Attr("shared_name", "")
      .Attr("container", "")
      .Attr("output_types", signature.types)
      .Attr("output_shapes", signature.shapes)
      .Name(name);
  if (source) builder.Attr(ElementSource::kAttr, SourceHandle(source));
  return builder.Build();
}

Operation MakeIterator(Output iterator, const std::shared_ptr<const ElementSource>& source,
                       const std::string& name) {
  // The op takes a data set of the graph; the source stands in for it.
  const Output none = Const(Tensor(DType::kVariant, Shape()), "dataset");
  return OpBuilder("MakeIterator")
      .Input(none)
      .Input(iterator)
      .Attr(ElementSource::kAttr, SourceHandle(source))
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
