// Walks the registry: what every op of the library must have.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "sextant/device/kernel_registry.h"
#include "sextant/graph/op_registry.h"
#include "sextant/testing/op_case.h"
#include "tests/registry/exceptions.h"

namespace sextant {
namespace {

constexpr const char* kTestData = SEXTANT_SOURCE_DIR "/testdata/";

// Ops of the library itself, "_Name", are never exported: TensorFlow knows nothing of them.
bool IsInternal(const OpDef& op) { return op.name().starts_with("_"); }

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

// Fields of each line of a table by the first one.
std::map<std::string, std::vector<std::string>> ReadTable(const char* name) {
  std::map<std::string, std::vector<std::string>> table;
  std::ifstream in(std::string(kTestData) + name);
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> fields = Split(line, '\t');
    fields.resize(std::max<size_t>(fields.size(), 6));
    table.emplace(fields[0], fields);
  }
  return table;
}

void CollectOps(const testing::CaseCall& call, std::set<std::string>& ops) {
  ops.insert(call.op);
  const auto collect = [&](const testing::CaseInput& input, const auto& self) -> void {
    if (input.call) CollectOps(*input.call, ops);
    for (const testing::CaseInput& element : input.list) self(element, self);
  };
  for (const testing::CaseInput& input : call.inputs) collect(input, collect);
}

// TensorFlow has kernels that no node can ask for.
bool Allowed(const OpDef& op, const std::vector<std::string>& attrs,
             const std::vector<std::string>& types) {
  for (size_t i = 0; i < attrs.size(); ++i) {
    const AttrDef* attr = op.FindAttr(attrs[i]);
    if (types[i] == "*" || attr == nullptr || attr->allowed_types.empty()) continue;
    if (std::ranges::count(attr->allowed_types, DTypeFromName(types[i])) == 0) return false;
  }
  return true;
}

bool IsExcepted(const std::string& op, const std::string& combination) {
  return combination.find("complex") != std::string::npos && kOpsWithoutComplex.contains(op);
}

// Whether some kernel accepts the types, given by attribute; "*" is any.
bool HasKernel(const std::string& op, const std::vector<std::string>& attrs,
               const std::vector<std::string>& types) {
  for (const KernelDef* kernel : KernelRegistry::Global().All(op)) {
    if (kernel->device_type() != "CPU") continue;
    const bool fits = std::ranges::all_of(kernel->types(), [&](const auto& constraint) {
      const auto attr = std::ranges::find(attrs, constraint.first);
      if (attr == attrs.end()) return true;
      const std::string& type = types[attr - attrs.begin()];
      return type == "*" || std::ranges::count(constraint.second, DTypeFromName(type)) > 0;
    });
    if (fits) return true;
  }
  return false;
}

TEST(RegistryTest, EveryOpHasDocAndShapeFunctionAndGradientOrReason) {
  for (const OpDef* op : OpRegistry::Global().All()) {
    EXPECT_FALSE(op->doc().empty()) << op->name();
    EXPECT_TRUE(op->shape() || op->outputs().empty()) << op->name() << " has no shape function";
    const int ways = (op->gradient() != nullptr) + !op->not_differentiable().empty() +
                     !op->gradient_forbidden().empty();
    EXPECT_EQ(ways, 1) << op->name() << " has neither gradient nor reason, or both";
  }
}

// Empty, or what is wrong with the op's signature.
std::string SignatureProblem(const OpDef& op,
                             const std::map<std::string, std::vector<std::string>>& table,
                             const std::map<std::string, std::string>& ours) {
  const auto line = table.find(op.name());
  if (line == table.end()) {
    return IsInternal(op) || ours.contains(op.name())
               ? ""
               : op.name() + " is neither in tf215_ops.tsv nor in kOurOps";
  }
  if (ours.contains(op.name())) return op.name() + " is in kOurOps, but TensorFlow has it too";
  const auto& f = line->second;
  const auto expected = fmt::format("{}\t{}\t{}\t{}\t{}", f[0], f[1], f[2], f[3], f[4]);
  return op.Signature() == expected ? "" : op.Signature() + " instead of " + expected;
}

TEST(RegistryTest, EveryOpHasTheSignatureOfTensorFlowOrIsOurs) {
  const auto table = ReadTable("tf215_ops.tsv");
  for (const OpDef* op : OpRegistry::Global().All()) {
    EXPECT_EQ(SignatureProblem(*op, table, kOurOps), "");
  }
  for (const auto& [op, reason] : kOurOps) {
    EXPECT_NE(OpRegistry::Global().Find(op), nullptr) << op;
    EXPECT_FALSE(reason.empty()) << op;
  }
}

TEST(RegistryTest, OpsThatTensorFlowLacksAreNamed) {
  const auto table = ReadTable("tf215_ops.tsv");
  const OpDef mine = OpDef("Rotary").Inputs("x:float").Outputs("y:float");
  EXPECT_EQ(SignatureProblem(mine, table, {}), "Rotary is neither in tf215_ops.tsv nor in kOurOps");
  EXPECT_EQ(SignatureProblem(mine, table, {{"Rotary", "position embeddings"}}), "");
  const OpDef& relu = *OpRegistry::Global().Find("Relu");
  EXPECT_EQ(SignatureProblem(relu, table, {{"Relu", "why"}}),
            "Relu is in kOurOps, but TensorFlow has it too");
}

TEST(RegistryTest, EveryOpHasKernelsForTheTypesOfTensorFlow) {
  const auto table = ReadTable("tf215_cpu_kernels.tsv");
  for (const OpDef* op : OpRegistry::Global().All()) {
    if (op->structural()) {
      EXPECT_TRUE(KernelRegistry::Global().All(op->name()).empty()) << op->name();
      continue;
    }
    EXPECT_TRUE(HasKernel(op->name(), {}, {})) << op->name() << " has no kernel";
    const auto line = table.find(op->name());
    if (line == table.end()) continue;
    const std::vector<std::string> attrs = Split(line->second[1], ',');
    std::string missing;
    for (const std::string& combination : Split(line->second[2], ' ')) {
      const std::vector<std::string> types = Split(combination, ',');
      if (!Allowed(*op, attrs, types)) continue;
      if (HasKernel(op->name(), attrs, types) == IsExcepted(op->name(), combination)) {
        missing += " " + combination;
      }
    }
    EXPECT_EQ(missing, "") << op->name() << " lacks kernels for these " << line->second[1]
                           << ", or has them in spite of an exception";
  }
}

TEST(RegistryTest, EveryOpHasACase) {
  std::set<std::string> covered;
  for (const testing::OpCase& op_case : testing::ReadOpCases(SEXTANT_SOURCE_DIR "/sextant/ops")) {
    CollectOps(op_case.call, covered);
  }
  for (const OpDef* op : OpRegistry::Global().All()) {
    const bool excepted = kOpsWithoutCase.contains(op->name());
    EXPECT_NE(covered.contains(op->name()), excepted)
        << op->name() << (excepted ? " has a case in spite of an exception" : " has no case");
  }
}

// Ops that only say that they are not run do not count.
TEST(RegistryTest, TheReadmeCountsTheOpsThatRun) {
  int count = 0;
  for (const OpDef* op : OpRegistry::Global().All()) {
    const auto excepted = kOpsWithoutCase.find(op->name());
    const bool not_run = excepted != kOpsWithoutCase.end() && excepted->second.ends_with("not run");
    if (!IsInternal(*op) && !not_run) ++count;
  }
  std::ifstream file(SEXTANT_SOURCE_DIR "/README.md");
  const std::string readme(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(readme.find(fmt::format("| ops | {} op types", count)), std::string::npos)
      << "README.md should say: " << count << " op types";
}

}  // namespace
}  // namespace sextant
