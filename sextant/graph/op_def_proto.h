// Signatures of ops as messages, as MetaGraphDef.stripped_op_list holds them.
#pragma once

#include "sextant/graph/op_def.h"

namespace sextant::proto {
class OpDef;
}

namespace sextant {

// All but documentation, shape function and gradient. (Back: OpDefFromProto in function.h.)
void OpDefToProto(const OpDef& op, proto::OpDef* proto);

}  // namespace sextant
