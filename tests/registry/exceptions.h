// What the registry test does not ask for, each with the reason.
#pragma once

#include <map>
#include <set>
#include <string>

namespace sextant {

// Op → what covers it in place of a case of the tables, which cannot write functions, loops or handles used twice.
inline const std::map<std::string, std::string> kOpsWithoutCase = {
    {"Const", "an input with # of the tables"},
    {"Placeholder", "the inputs of the tables"},
    {"PlaceholderV2", "shares its definition with Placeholder"},
    {"If", "ops/control_flow/functional_test.cc"},
    {"StatelessIf", "ops/control_flow/functional_test.cc"},
    {"Case", "shares its definition with StatelessCase"},
    {"StatelessCase", "golden control_flow/functions"},
    {"While", "ops/control_flow/functional_test.cc"},
    {"StatelessWhile", "graph/passes/structure_loops_test.cc"},
    {"PartitionedCall", "graph/passes/inline_functions_test.cc"},
    {"StatefulPartitionedCall", "graph/passes/inline_functions_test.cc"},
    {"SymbolicGradient", "golden control_flow/functions"},
    {"Enter", "graph/passes/structure_loops_test.cc"},
    {"Exit", "graph/passes/structure_loops_test.cc"},
    {"LoopCond", "graph/passes/structure_loops_test.cc"},
    {"Merge", "graph/passes/structure_loops_test.cc"},
    {"NextIteration", "graph/passes/structure_loops_test.cc"},
    {"Switch", "graph/passes/structure_loops_test.cc"},
    {"RefEnter", "shares its definition and rewriting with Enter"},
    {"RefExit", "shares its definition and rewriting with Exit"},
    {"RefMerge", "shares its definition and rewriting with Merge"},
    {"RefNextIteration", "shares its definition and rewriting with NextIteration"},
    {"RefSwitch", "graph/passes/resolve_references_test.cc"},
    {"StackV2", "ops/control_flow/stack_test.cc"},
    {"StackPushV2", "ops/control_flow/stack_test.cc"},
    {"StackPopV2", "ops/control_flow/stack_test.cc"},
    {"StackCloseV2", "ops/control_flow/stack_test.cc"},
    {"TensorArrayV3", "ops/control_flow/tensor_array_test.cc"},
    {"TensorArrayCloseV3", "ops/control_flow/tensor_array_test.cc"},
    {"TensorArrayConcatV3", "ops/control_flow/tensor_array_test.cc"},
    {"TensorArrayGatherV3", "ops/control_flow/tensor_array_test.cc"},
    {"TensorArrayGradV3", "ops/control_flow/tensor_array_test.cc"},
    {"TensorArrayGradWithShape", "ops/control_flow/tensor_array_test.cc"},
    {"TensorArrayReadV3", "ops/control_flow/tensor_array_test.cc"},
    {"TensorArrayScatterV3", "ops/control_flow/tensor_array_test.cc"},
    {"TensorArraySizeV3", "ops/control_flow/tensor_array_test.cc"},
    {"TensorArraySplitV3", "ops/control_flow/tensor_array_test.cc"},
    {"TensorArrayWriteV3", "ops/control_flow/tensor_array_test.cc"},
    {"_Arg", "graph/function_test.cc"},
    {"_Retval", "graph/function_test.cc"},
    {"_Feed", "graph/passes/copy_subgraph_test.cc"},
    {"_Elementwise", "ops/fused/elementwise_region_test.cc"},
};

// Complex numbers are stored, moved, added and multiplied; these functions of them are not offered.
inline const std::set<std::string> kOpsWithoutComplex = {
    "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "ClipByValue", "Cos", "Cosh", "DivNoNan", "Exp", "Expm1",
    "Inv", "InvGrad", "Log", "Log1p", "MulNoNan", "Pow", "Reciprocal", "ReciprocalGrad", "Rsqrt", "RsqrtGrad",
    "Sigmoid", "SigmoidGrad", "Sign", "Sin", "Sinh", "SparseAdd", "SparseFillEmptyRowsGrad",
    "SparseReduceSum", "SparseReduceSumSparse", "SparseTensorDenseAdd", "SparseTensorDenseMatMul", "Sqrt", "SqrtGrad",
    "SquaredDifference", "Tan", "Tanh", "TanhGrad", "Xdivy", "Xlog1py", "Xlogy",
};

}  // namespace sextant
