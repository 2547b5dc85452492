#include "sextant/ops/lookup/mutable_hash_table.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

PartialShape HandleShapeOf(ShapeContext& c) {
  return IsRef(c.node().output_type(0)) ? PartialShape{2} : PartialShape(Shape());
}

void MutableTableShape(ShapeContext& c) {
  c.set_output(0, HandleShapeOf(c));
  c.set_output_handle(0, {c.attr<DType>("value_dtype"), Shape()});
}

void TensorTableShape(ShapeContext& c) {
  c.set_output(0, HandleShapeOf(c));
  c.set_output_handle(0, {c.attr<DType>("value_dtype"), c.attr<PartialShape>("value_shape")});
}

OpBuilder Table(const char* op, const TableOptions& options) {
  OpBuilder builder(op);
  builder.Attr("container", options.container)
      .Attr("shared_name", options.shared_name)
      .Name(options.name);
  return builder;
}

}  // namespace

Output MutableHashTable(DType key_dtype, DType value_dtype, const TableOptions& options) {
  return Table("MutableHashTableV2", options)
      .Attr("key_dtype", key_dtype)
      .Attr("value_dtype", value_dtype)
      .Build();
}
Output MutableHashTableOfTensors(DType key_dtype, DType value_dtype, const Shape& value_shape,
                                 const TableOptions& options) {
  return Table("MutableHashTableOfTensorsV2", options)
      .Attr("key_dtype", key_dtype)
      .Attr("value_dtype", value_dtype)
      .Attr("value_shape", PartialShape(value_shape))
      .Build();
}
Output MutableDenseHashTable(Output empty_key, Output deleted_key, DType value_dtype,
                             const MutableDenseHashTableOptions& options) {
  return Table("MutableDenseHashTableV2", options.table)
      .Input(empty_key)
      .Input(deleted_key)
      .Attr("value_dtype", value_dtype)
      .Attr("value_shape", PartialShape(options.value_shape))
      .Attr("initial_num_buckets", options.initial_num_buckets)
      .Attr("max_load_factor", options.max_load_factor)
      .Build();
}

void RegisterMutableHashTable(OpRegistry& registry) {
  const std::string sharing =
      "container:string=''; shared_name:string=''; use_node_name_sharing:bool=False; ";
  const std::string types = "key_dtype:type; value_dtype:type";
  const std::string tensor_types = types + "; value_shape:shape=[]";
  const std::string dense_types = tensor_types +
                                  "; initial_num_buckets:int=131072; "
                                  "max_load_factor:float=0.800000011920929";
  const auto add = [&](const char* name, const std::string& attrs, const char* doc,
                       ShapeFunction shape, const char* inputs = "",
                       const char* output = "table_handle:resource") {
    OpDef def(name);
    def.Inputs(inputs).Outputs(output).Attrs(attrs).Stateful().Doc(doc).Shape(std::move(shape));
    def.NotDifferentiable("a handle");
    if (std::string_view(output).ends_with(')')) def.Structural();
    registry.Add(std::move(def));
  };
  constexpr const char* kReference = "table_handle:ref(string)";
  add("MutableHashTable", sharing + types, "A reference to a table that changes.",
      MutableTableShape, "", kReference);
  add("MutableHashTableV2", sharing + types, "The handle of a table of the session that changes.",
      MutableTableShape);
  add("AnonymousMutableHashTable", types,
      "A new table that changes and lives as long as its handle.", MutableTableShape);
  add("MutableHashTableOfTensors", sharing + tensor_types,
      "A reference to a table that changes, with vectors as values.", TensorTableShape, "",
      kReference);
  add("MutableHashTableOfTensorsV2", sharing + tensor_types,
      "The handle of a table of the session that changes, with vectors as values.",
      TensorTableShape);
  add("AnonymousMutableHashTableOfTensors", tensor_types,
      "A new table that changes, with vectors as values, and lives as long as its handle.",
      TensorTableShape);
  constexpr const char* kFreeKeys = "empty_key:key_dtype, deleted_key:key_dtype";
  add("MutableDenseHashTableV2", sharing + dense_types,
      "The handle of a table of the session that changes, kept in two tensors of buckets.",
      shapes::Scalar, kFreeKeys);
  add("AnonymousMutableDenseHashTable", dense_types,
      "A new table that changes, kept in two tensors of buckets, and lives as long as its handle.",
      shapes::Scalar, kFreeKeys);
}

}  // namespace sextant
