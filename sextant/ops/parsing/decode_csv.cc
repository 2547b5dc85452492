#include "sextant/ops/parsing/decode_csv.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void DecodeCsvShape(ShapeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) {
    const PartialShape& shape = c.input(i);
    if (shape.rank_known() && (shape.rank() > 1 || (shape.rank() == 1 && shape[0] > 1))) {
      throw InvalidArgument(
          "the default of column {} must be a scalar or a vector of at most one "
          "element, got shape {}",
          i - 1, shape.ToString());
    }
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, c.input(0));
}

}  // namespace

std::vector<Output> DecodeCSV(Output records, const std::vector<Output>& record_defaults,
                              const DecodeCsvOptions& options) {
  return OpBuilder("DecodeCSV")
      .Input(records)
      .Input(record_defaults)
      .Attr("field_delim", options.field_delim)
      .Attr("use_quote_delim", options.use_quote_delim)
      .Attr("na_value", options.na_value)
      .Attr("select_cols", options.select_cols)
      .BuildAll();
}

void RegisterDecodeCsv(OpRegistry& registry) {
  registry.Add(
      OpDef("DecodeCSV")
          .Inputs("records:string, record_defaults:OUT_TYPE")
          .Outputs("output:OUT_TYPE")
          .Attrs("OUT_TYPE:list(type)>=1 in [float,double,int32,int64,string]; "
                 "field_delim:string=','; use_quote_delim:bool=True; na_value:string=''; "
                 "select_cols:list(int)=[]")
          .Doc("The columns of records of comma-separated values; an empty field takes the "
               "column's default.")
          .Shape(DecodeCsvShape)
          .NotDifferentiable("the input is text"));
}

}  // namespace sextant
