// The ops at the ends of function bodies and plans, and signatures of functions as ops.
#include "sextant/graph/function.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/proto/graph.pb.h"

namespace sextant {
namespace {

// Functions note what their callers know of the arguments in these attributes.
void ArgShape(ShapeContext& c) {
  const Attr* shapes = c.node().FindAttr("_output_shapes");
  if (shapes && shapes->Is<std::vector<PartialShape>>()) {
    const auto& list = shapes->Get<std::vector<PartialShape>>();
    if (list.size() == 1) c.set_output(0, list[0]);
  }
  const Attr* dtypes = c.node().FindAttr("_handle_dtypes");
  const Attr* handles = c.node().FindAttr("_handle_shapes");
  if (dtypes && handles && dtypes->Is<std::vector<DType>>() &&
      handles->Is<std::vector<PartialShape>>()) {
    const auto& types = dtypes->Get<std::vector<DType>>();
    const auto& list = handles->Get<std::vector<PartialShape>>();
    if (types.size() == 1 && list.size() == 1) c.set_output_handle(0, {types[0], list[0]});
  }
}

DType TypeOf(int number) {
  if (number < 0 || number > 255) throw InvalidArgument("{} is not a data type", number);
  return static_cast<DType>(number);
}

ArgDef ArgFromProto(const proto::OpDef::ArgDef& proto) {
  ArgDef arg;
  arg.name = proto.name();
  arg.type = TypeOf(proto.type());
  arg.type_attr = proto.type_attr();
  arg.number_attr = proto.number_attr();
  arg.type_list_attr = proto.type_list_attr();
  arg.is_ref = proto.is_ref() || IsRef(arg.type);
  arg.type = RemoveRef(arg.type);
  if (arg.name.empty()) throw InvalidArgument("an argument has no name");
  if (arg.type == DType::kInvalid && arg.type_attr.empty() && arg.type_list_attr.empty()) {
    throw InvalidArgument("argument '{}' has no type", arg.name);
  }
  return arg;
}

AttrDef AttrFromProto(const proto::OpDef::AttrDef& proto) {
  AttrDef attr;
  attr.name = proto.name();
  attr.type = proto.type();
  if (proto.has_default_value()) attr.default_value = Attr::FromProto(proto.default_value());
  if (proto.has_minimum()) attr.minimum = proto.minimum();
  for (const int type : proto.allowed_values().list().type()) {
    attr.allowed_types.push_back(TypeOf(type));
  }
  const auto& strings = proto.allowed_values().list().s();
  attr.allowed_strings.assign(strings.begin(), strings.end());
  return attr;
}

}  // namespace

OpDef OpDefFromProto(const proto::OpDef& proto) {
  OpDef op(proto.name());
  for (const auto& arg : proto.input_arg()) op.inputs_.push_back(ArgFromProto(arg));
  for (const auto& arg : proto.output_arg()) op.outputs_.push_back(ArgFromProto(arg));
  for (const auto& attr : proto.attr()) op.attrs_.push_back(AttrFromProto(attr));
  op.stateful_ = proto.is_stateful();
  op.commutative_ = proto.is_commutative();
  op.aggregate_ = proto.is_aggregate();
  op.doc_ = proto.summary();
  op.shape_ = shapes::Unknown;
  return op;
}

void RegisterFunctionOps(OpRegistry& registry) {
  registry.Add(OpDef("_Arg")
                   .Outputs("output:T")
                   .Attrs("T:type; index:int>=0")
                   .Stateful()
                   .Structural()
                   .Doc("Argument number index of the function whose body holds the node.")
                   .Shape(ArgShape)
                   .NotDifferentiable("it has no inputs"));
  registry.Add(OpDef("_Retval")
                   .Inputs("input:T")
                   .Attrs("T:type; index:int>=0")
                   .Stateful()
                   .Structural()
                   .Doc("Result number index of the function whose body holds the node.")
                   .Shape(shapes::NoOutputs)
                   .NotDifferentiable("it has no outputs"));
  registry.Add(OpDef("_Feed")
                   .Outputs("output:dtype")
                   .Attrs("dtype:type; shape:shape=unknown_rank")
                   .Structural()
                   .Doc("A tensor that the caller of a step gives.")
                   .Shape(shapes::FromShapeAttr)
                   .NotDifferentiable("it has no inputs"));
}

}  // namespace sextant
