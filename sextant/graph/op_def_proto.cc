#include "sextant/graph/op_def_proto.h"

#include "sextant/proto/graph.pb.h"

namespace sextant {
namespace {

void ArgToProto(const ArgDef& arg, proto::OpDef::ArgDef* proto) {
  proto->set_name(arg.name);
  // A list of tensors has its type from number and type attributes, or from a list of types.
  if (arg.type_attr.empty() && arg.type_list_attr.empty()) {
    proto->set_type(static_cast<proto::DataType>(arg.type));
  }
  proto->set_type_attr(arg.type_attr);
  proto->set_number_attr(arg.number_attr);
  proto->set_type_list_attr(arg.type_list_attr);
  proto->set_is_ref(arg.is_ref);
}

void AttrToProto(const AttrDef& attr, proto::OpDef::AttrDef* proto) {
  proto->set_name(attr.name);
  proto->set_type(attr.type);
  if (attr.default_value) {
    proto::AttrValue* value = proto->mutable_default_value();
    attr.default_value->ToProto(value);
    if (attr.type.starts_with("list(")) value->mutable_list();
  }
  if (attr.minimum) {
    proto->set_has_minimum(true);
    proto->set_minimum(*attr.minimum);
  }
  for (const DType type : attr.allowed_types) {
    proto->mutable_allowed_values()->mutable_list()->add_type(static_cast<proto::DataType>(type));
  }
  for (const std::string& text : attr.allowed_strings) {
    proto->mutable_allowed_values()->mutable_list()->add_s(text);
  }
}

}  // namespace

void OpDefToProto(const OpDef& op, proto::OpDef* proto) {
  proto->set_name(op.name());
  for (const ArgDef& arg : op.inputs()) ArgToProto(arg, proto->add_input_arg());
  for (const ArgDef& arg : op.outputs()) ArgToProto(arg, proto->add_output_arg());
  for (const AttrDef& attr : op.attrs()) AttrToProto(attr, proto->add_attr());
  proto->set_is_stateful(op.stateful());
  proto->set_is_commutative(op.commutative());
  proto->set_is_aggregate(op.aggregate());
  proto->set_allows_uninitialized_input(op.allows_uninitialized_input());
  if (op.deprecated() != 0) proto->mutable_deprecation()->set_version(op.deprecated());
}

}  // namespace sextant
