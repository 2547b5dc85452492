#include "sextant/ops/reader/reader.h"

#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void HandleShapeOf(ShapeContext& c) {
  c.set_output(0, IsRef(c.node().output_type(0)) ? PartialShape{2} : PartialShape(Shape()));
}

void ReadUpToShape(ShapeContext& c) {
  c.InputOfRank(2, 0);
  for (int i = 0; i < 2; ++i) c.set_output(i, PartialShape::UnknownOfRank(1));
}

void RestoreShape(ShapeContext& c) { c.InputOfRank(1, 0); }

struct ReaderKind {
  const char* name;
  const char* attrs;
  const char* v2_attrs;  // added by V2
  bool deprecated;       // without V2
  const char* doc;
};

constexpr const char* kSharing = "container:string=''; shared_name:string=''";
constexpr ReaderKind kKinds[] = {
    {"FixedLengthRecordReader",
     "header_bytes:int=0; record_bytes:int; footer_bytes:int=0; hop_bytes:int=0; "
     "container:string=''; shared_name:string=''",
     "; encoding:string=''", true, "A reader of records of a fixed number of bytes."},
    {"TextLineReader", "skip_header_lines:int=0; container:string=''; shared_name:string=''", "",
     true, "A reader of lines, without their ends."},
    {"TFRecordReader", "container:string=''; shared_name:string=''; compression_type:string=''", "",
     true, "A reader of TFRecord files."},
    {"WholeFileReader", kSharing, "", false, "A reader whose records are whole files."},
    {"IdentityReader", kSharing, "", true, "A reader whose records are the names it is given."},
};

struct ReaderOp {
  const char* name;
  const char* inputs;  // after the handle; "queue" stands for the handle of a queue
  const char* outputs;
  const char* doc;
  void (*shape)(ShapeContext&);
};

constexpr ReaderOp kReaderOps[] = {
    {"ReaderRead", ", queue_handle:queue", "key:string, value:string",
     "The next record of a reader; names of files come from a queue.", shapes::Scalar},
    {"ReaderReadUpTo", ", queue_handle:queue, num_records:int64", "keys:string, values:string",
     "The next records of one file, at most num_records; names of files come from a queue.",
     ReadUpToShape},
    {"ReaderNumRecordsProduced", "", "records_produced:int64",
     "The number of records a reader has read.", shapes::Scalar},
    {"ReaderNumWorkUnitsCompleted", "", "units_completed:int64",
     "The number of files a reader has read to the end.", shapes::Scalar},
    {"ReaderReset", "", "", "Makes a reader as it was at first.", shapes::NoOutputs},
    {"ReaderSerializeState", "", "state:string", "Where a reader stands, as a string.",
     shapes::Scalar},
    {"ReaderRestoreState", ", state:string", "", "Puts a reader where it stood.", RestoreShape},
};

std::string Replace(std::string text, std::string_view what, std::string_view by) {
  const size_t at = text.find(what);
  if (at != std::string::npos) text.replace(at, what.size(), by);
  return text;
}

}  // namespace

void RegisterReader(OpRegistry& registry) {
  // Handles were references once; a pass makes V2 ops of those of such graphs.
  for (const bool v2 : {false, true}) {
    const std::string handle = v2 ? "resource" : "ref(string)";
    const std::string suffix = v2 ? "V2" : "";
    for (const ReaderKind& kind : kKinds) {
      OpDef def(kind.name + suffix);
      def.Outputs("reader_handle:" + handle)
          .Attrs(std::string(kind.attrs) + (v2 ? kind.v2_attrs : ""))
          .Stateful()
          .Doc(kind.doc)
          .Shape(HandleShapeOf)
          .NotDifferentiable("it has no inputs");
      if (!v2) def.Structural();
      if (!v2 && kind.deprecated) def.Deprecated(26);
      registry.Add(std::move(def));
    }
    for (const ReaderOp& op : kReaderOps) {
      OpDef def(op.name + suffix);
      def.Inputs("reader_handle:" + handle + Replace(op.inputs, ":queue", ":" + handle))
          .Outputs(op.outputs)
          .Doc(op.doc)
          .Shape(op.shape)
          .NotDifferentiable("records are text");
      if (v2) {
        def.Stateful();
      } else {
        def.Structural();
      }
      registry.Add(std::move(def));
    }
  }
}

}  // namespace sextant
