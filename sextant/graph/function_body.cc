// FunctionDef to FunctionBody.
#include <unordered_set>

#include "sextant/base/error.h"
#include "sextant/graph/function.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/graph_def_importer.h"
#include "sextant/proto/graph.pb.h"

namespace sextant {
namespace {

constexpr int64_t kMaxListArgument = 1 << 16;

// The attributes given, completed by the signature's defaults.
AttrMap WithDefaults(const proto::OpDef& signature, AttrMap attrs) {
  for (const auto& attr : signature.attr()) {
    if (attr.has_default_value() && FindAttr(attrs, attr.name()) == nullptr) {
      attrs.emplace_back(attr.name(), Attr::FromProto(attr.default_value()));
    }
  }
  return attrs;
}

const Attr& Require(const AttrMap& attrs, const std::string& name) {
  const Attr* attr = FindAttr(attrs, name);
  if (attr == nullptr) throw InvalidArgument("attribute '{}' is missing", name);
  return *attr;
}

// Types of the tensors of one argument.
std::vector<DType> TypesOf(const ArgDef& arg, const AttrMap& attrs) {
  if (!arg.type_list_attr.empty()) {
    return Require(attrs, arg.type_list_attr).Get<std::vector<DType>>();
  }
  DType type = arg.type_attr.empty() ? arg.type : Require(attrs, arg.type_attr).Get<DType>();
  if (arg.is_ref) type = MakeRef(type);
  if (arg.number_attr.empty()) return {type};
  const int64_t count = Require(attrs, arg.number_attr).Get<int64_t>();
  if (count < 0 || count > kMaxListArgument) {
    throw InvalidArgument("attribute '{}' = {} is out of range", arg.number_attr, count);
  }
  return std::vector<DType>(count, type);
}

class BodyBuilder {
 public:
  BodyBuilder(const proto::FunctionDef& def, const FunctionLibrary& library, const AttrMap& attrs)
      : def_(def),
        signature_(OpDefFromProto(def.signature())),
        attrs_(WithDefaults(def.signature(), attrs)),
        graph_(std::make_unique<Graph>()),
        importer_(*graph_, GraphDefImporter::Spelling::kFunction) {
    graph_->functions().AddAll(library);
  }

  FunctionBody Build() {
    importer_.SetAttrs(&attrs_);
    AddArguments();
    importer_.AddNodes(def_.node_def());
    AddResults();
    AddEffects();
    importer_.Commit();
    body_.graph = std::move(graph_);
    return std::move(body_);
  }

 private:
  void AddArguments() {
    for (uint32_t i = 0; i < signature_.inputs().size(); ++i) {
      const ArgDef& arg = signature_.inputs()[i];
      const std::vector<DType> types = TypesOf(arg, attrs_);
      std::vector<Output> values;
      for (size_t k = 0; k < types.size(); ++k) {
        NodeSpec spec;
        spec.name = types.size() == 1 ? arg.name : fmt::format("{}_{}", arg.name, k);
        spec.op = graph_->FindOp("_Arg");
        spec.attrs.emplace_back("T", types[k]);
        spec.attrs.emplace_back("index", static_cast<int64_t>(body_.args.size()));
        const auto noted = def_.arg_attr().find(i);
        if (noted != def_.arg_attr().end()) {
          for (const auto& [name, value] : noted->second.attr()) {
            if (name != "T" && name != "index") {
              spec.attrs.emplace_back(name, Attr::FromProto(value));
            }
          }
        }
        values.push_back(graph_->AddNode(std::move(spec))->output(0));
        body_.args.push_back(values.back());
      }
      importer_.AddArgument(arg.name, std::move(values));
    }
  }

  void AddResults() {
    for (const ArgDef& arg : signature_.outputs()) {
      const auto found = def_.ret().find(arg.name);
      if (found == def_.ret().end()) throw InvalidArgument("result '{}' is not given", arg.name);
      const std::vector<Output> values = importer_.Resolve(found->second);
      const std::vector<DType> types = TypesOf(arg, attrs_);
      if (values.size() != types.size()) {
        throw InvalidArgument("result '{}' needs {} tensors, '{}' is {}", arg.name, types.size(),
                              found->second, values.size());
      }
      for (size_t k = 0; k < types.size(); ++k) {
        if (RemoveRef(values[k].dtype()) != RemoveRef(types[k])) {
          throw InvalidArgument("result '{}' is {}, must be {}", arg.name,
                                DTypeName(values[k].dtype()), DTypeName(types[k]));
        }
        body_.results.push_back(values[k]);
      }
    }
  }

  void AddEffects() {
    std::unordered_set<const Node*> seen;
    for (const std::string& name : def_.signature().control_output()) {
      const auto found = def_.control_ret().find(name);
      Node* node = found == def_.control_ret().end() ? nullptr : importer_.FindNode(found->second);
      if (node == nullptr) throw InvalidArgument("control output '{}' is not given", name);
      if (seen.insert(node).second) body_.effects.emplace_back(node);
    }
    for (int i = 0; i < graph_->num_nodes(); ++i) {
      Node* node = graph_->node(i);
      if (node->op().stateful() && node->type() != "_Arg" && seen.insert(node).second) {
        body_.effects.emplace_back(node);
      }
    }
  }

  const proto::FunctionDef& def_;
  const OpDef signature_;
  const AttrMap attrs_;
  FunctionBody body_;
  std::unique_ptr<Graph> graph_;
  GraphDefImporter importer_;
};

}  // namespace

FunctionBody BodyFromDef(const proto::FunctionDef& def, const FunctionLibrary& library,
                         const AttrMap& attrs) {
  return BodyBuilder(def, library, attrs).Build();
}

}  // namespace sextant
