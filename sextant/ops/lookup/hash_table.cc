#include "sextant/ops/lookup/hash_table.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

constexpr const char* kEffect = "changes a table instead of giving a value";
constexpr const char* kReads = "TensorFlow defines no gradient of tables";

void TableShape(ShapeContext& c) {
  c.set_output(0, IsRef(c.node().output_type(0)) ? PartialShape{2} : PartialShape(Shape()));
  c.set_output_handle(0, {c.attr<DType>("value_dtype"), Shape()});
}

void FindShape(ShapeContext& c) {
  const HandleShape* table = c.input_handle(0);
  if (table == nullptr || !table->shape.rank_known() || !c.input(1).rank_known()) return;
  PartialShape shape = c.input(1);
  for (const int64_t size : table->shape.dims()) shape.Append(size);
  c.set_output(0, shape);
}

void ExportShape(ShapeContext& c) {
  const HandleShape* table = c.input_handle(0);
  if (table == nullptr || !table->shape.rank_known()) return;
  c.set_output(0, PartialShape::UnknownOfRank(1));
  PartialShape values = table->shape;
  values.Insert(0, PartialShape::kUnknown);
  c.set_output(1, values);
}

struct TableOp {
  const char* name;
  const char* inputs;  // after the handle
  const char* outputs;
  const char* attrs;
  const char* doc;
  void (*shape)(ShapeContext&);
  const char* no_gradient;
};

constexpr TableOp kTableOps[] = {
    {"InitializeTable", "keys:Tkey, values:Tval", "", "Tkey:type; Tval:type",
     "Fills a table, once, with the given keys and their values.", shapes::NoOutputs, kEffect},
    {"InitializeTableFromTextFile", "filename:string", "",
     "key_index:int>=-2; value_index:int>=-2; vocab_size:int=-1>=-1; delimiter:string='\\t'; "
     "offset:int=0",
     "Fills a table, once, with an entry for each line of a text file.", shapes::NoOutputs,
     kEffect},
    {"LookupTableFind", "keys:Tin, default_value:Tout", "values:Tout", "Tin:type; Tout:type",
     "The values of keys; the default value where a key is not in the table.", FindShape, kReads},
    {"LookupTableSize", "", "size:int64", "", "The number of entries of a table.", shapes::Scalar,
     kReads},
    {"LookupTableExport", "", "keys:Tkeys, values:Tvalues", "Tkeys:type; Tvalues:type",
     "All keys of a table and their values.", ExportShape, kReads},
    {"LookupTableImport", "keys:Tin, values:Tout", "", "Tin:type; Tout:type",
     "Replaces the content of a table.", shapes::NoOutputs, kEffect},
    {"LookupTableInsert", "keys:Tin, values:Tout", "", "Tin:type; Tout:type",
     "Adds entries to a table or replaces their values.", shapes::NoOutputs, kEffect},
    {"LookupTableRemove", "keys:Tin", "", "Tin:type", "Removes keys and their values from a table.",
     shapes::NoOutputs, kEffect},
};

// Handles were references once; a pass makes V2 ops of those of such graphs.
void AddTableOp(OpRegistry& registry, const TableOp& op, bool v2) {
  OpDef def(op.name + std::string(v2 ? "V2" : ""));
  std::string inputs = v2 ? "table_handle:resource" : "table_handle:ref(string)";
  if (*op.inputs != '\0') inputs += std::string(", ") + op.inputs;
  def.Inputs(inputs).Outputs(op.outputs).Attrs(op.attrs).Doc(op.doc);
  def.Shape(op.shape).NotDifferentiable(op.no_gradient);
  if (v2) {
    def.Stateful();
  } else {
    def.Structural();
  }
  registry.Add(std::move(def));
}

OpBuilder OnTable(const char* op, Output table) {
  OpBuilder builder(op);
  builder.Input(table);
  return builder;
}

}  // namespace

Output HashTable(DType key_dtype, DType value_dtype, const TableOptions& options) {
  return OpBuilder("HashTableV2")
      .Attr("key_dtype", key_dtype)
      .Attr("value_dtype", value_dtype)
      .Attr("container", options.container)
      .Attr("shared_name", options.shared_name)
      .Name(options.name)
      .Build();
}
Operation InitializeTable(Output table, Output keys, Output values) {
  return OnTable("InitializeTableV2", table).Input(keys).Input(values).BuildOperation();
}
Operation InitializeTableFromTextFile(Output table, Output filename,
                                      const TextFileTableOptions& options) {
  return OnTable("InitializeTableFromTextFileV2", table)
      .Input(filename)
      .Attr("key_index", options.key_index)
      .Attr("value_index", options.value_index)
      .Attr("vocab_size", options.vocab_size)
      .Attr("delimiter", options.delimiter)
      .Attr("offset", options.offset)
      .BuildOperation();
}
Output LookupTableFind(Output table, Output keys, Output default_value) {
  return OnTable("LookupTableFindV2", table).Input(keys).Input(default_value).Build();
}
Output LookupTableSize(Output table) { return OnTable("LookupTableSizeV2", table).Build(); }
Operation LookupTableInsert(Output table, Output keys, Output values) {
  return OnTable("LookupTableInsertV2", table).Input(keys).Input(values).BuildOperation();
}
Operation LookupTableRemove(Output table, Output keys) {
  return OnTable("LookupTableRemoveV2", table).Input(keys).BuildOperation();
}
std::pair<Output, Output> LookupTableExport(Output table, DType key_dtype, DType value_dtype) {
  const auto outputs = OnTable("LookupTableExportV2", table)
                           .Attr("Tkeys", key_dtype)
                           .Attr("Tvalues", value_dtype)
                           .BuildAll();
  return {outputs[0], outputs[1]};
}
Operation LookupTableImport(Output table, Output keys, Output values) {
  return OnTable("LookupTableImportV2", table).Input(keys).Input(values).BuildOperation();
}

void RegisterHashTable(OpRegistry& registry) {
  const std::string sharing =
      "container:string=''; shared_name:string=''; use_node_name_sharing:bool=False; ";
  const std::string types = "key_dtype:type; value_dtype:type";
  const auto table = [&](const char* name, const char* output, const std::string& attrs,
                         const char* doc) {
    OpDef def(name);
    def.Outputs(output).Attrs(attrs).Stateful().Doc(doc).Shape(TableShape);
    def.NotDifferentiable("it has no inputs");
    if (std::string_view(output).ends_with(')')) def.Structural();
    registry.Add(std::move(def));
  };
  table("HashTable", "table_handle:ref(string)", sharing + types,
        "A reference to a table that is filled once.");
  table("HashTableV2", "table_handle:resource", sharing + types,
        "The handle of a table of the session that is filled once.");
  table("AnonymousHashTable", "table_handle:resource", types,
        "A new table that is filled once and lives as long as its handle.");
  for (const TableOp& op : kTableOps) {
    // TensorFlow had no removal when handles were references.
    if (std::string_view(op.name) != "LookupTableRemove") AddTableOp(registry, op, false);
    AddTableOp(registry, op, true);
  }
}

}  // namespace sextant
