#include "sextant/graph/function.h"

#include <algorithm>
#include <unordered_set>

#include "sextant/base/error.h"
#include "sextant/graph/graph.h"
#include "sextant/proto/graph.pb.h"

namespace sextant {
namespace {

void CollectNames(const FuncAttr& func, std::vector<std::string>* names);

void CollectNames(const Attr& attr, std::vector<std::string>* names) {
  if (attr.Is<FuncAttr>()) CollectNames(attr.Get<FuncAttr>(), names);
  if (attr.Is<std::vector<FuncAttr>>()) {
    for (const FuncAttr& func : attr.Get<std::vector<FuncAttr>>()) CollectNames(func, names);
  }
}

void CollectNames(const FuncAttr& func, std::vector<std::string>* names) {
  names->push_back(func.name);
  if (func.attrs == nullptr) return;
  for (const auto& [name, value] : *func.attrs) CollectNames(value, names);
}

void CollectNames(const Node& node, std::vector<std::string>* names) {
  names->push_back(node.type());
  for (const auto& [name, value] : node.attrs()) CollectNames(value, names);
}

std::vector<std::string> CalleesOf(const Graph& body) {
  std::vector<std::string> names;
  for (int i = 0; i < body.num_nodes(); ++i) CollectNames(*body.node(i), &names);
  return names;
}

std::vector<std::string> CalleesOf(const proto::FunctionDef& def) {
  std::vector<std::string> names;
  for (const proto::NodeDef& node : def.node_def()) {
    names.push_back(node.op());
    for (const auto& [name, value] : node.attr()) {
      if (value.has_func() || value.list().func_size() > 0) {
        CollectNames(Attr::FromProto(value), &names);
      }
    }
  }
  return names;
}

}  // namespace

FunctionBody::FunctionBody() = default;
FunctionBody::~FunctionBody() = default;
FunctionBody::FunctionBody(FunctionBody&&) noexcept = default;
FunctionBody& FunctionBody::operator=(FunctionBody&&) noexcept = default;

Function::Function(std::unique_ptr<proto::FunctionDef> def)
    : name_(def->signature().name()), def_(std::move(def)) {
  if (name_.empty()) throw InvalidArgument("a function has no name");
}

Function::Function(std::string name, std::shared_ptr<const FunctionBody> body)
    : name_(std::move(name)), body_(std::move(body)) {}

Function::~Function() = default;

const proto::FunctionDef& Function::def() const {
  std::lock_guard lock(mutex_);
  if (!def_) def_ = std::make_unique<proto::FunctionDef>(DefFromBody(name_, *body_));
  return *def_;
}

const OpDef& Function::signature() const {
  const proto::FunctionDef& def = this->def();
  std::lock_guard lock(mutex_);
  if (!signature_) {
    try {
      signature_ = std::make_unique<OpDef>(OpDefFromProto(def.signature()));
    } catch (const Error& e) {
      throw e.WithPrefix(fmt::format("function {}: ", name_));
    }
  }
  return *signature_;
}

const std::vector<std::string>& Function::callees() const {
  std::lock_guard lock(mutex_);
  if (!callees_) {
    auto names = def_ ? CalleesOf(*def_) : CalleesOf(*body_->graph);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    callees_ = std::make_unique<std::vector<std::string>>(std::move(names));
  }
  return *callees_;
}

std::shared_ptr<const FunctionBody> Function::Instantiate(const FunctionLibrary& library,
                                                          const AttrMap& attrs) const {
  bool keep = true;
  {
    std::lock_guard lock(mutex_);
    if (def_) keep = attrs.empty() || def_->signature().attr().empty();
    if (body_ && keep) return body_;
  }
  // Not locked from here: functions may use each other.
  const FunctionLibrary needed = library.ReachableFrom(*this);
  auto body = std::make_shared<FunctionBody>();
  try {
    *body = BodyFromDef(*def_, needed, attrs);
  } catch (const Error& e) {
    throw e.WithPrefix(fmt::format("function {}: ", name_));
  }
  // A recursive function's body holds the function: keeping it would keep both for ever.
  if (keep && needed.Find(name_) == nullptr) {
    std::lock_guard lock(mutex_);
    if (!body_) body_ = body;
    return body_;
  }
  return body;
}

FunctionLibrary::FunctionLibrary() : state_(std::make_shared<State>()) {}

FunctionLibrary::State& FunctionLibrary::Change() {
  if (state_.use_count() > 1) state_ = std::make_shared<State>(*state_);
  return *state_;
}

void FunctionLibrary::Add(std::shared_ptr<const Function> function, bool replace) {
  State& state = Change();
  const auto found = state.by_name.find(function->name());
  if (found == state.by_name.end()) {
    state.by_name.emplace(function->name(), state.functions.size());
    state.functions.push_back(std::move(function));
    return;
  }
  if (!replace) throw AlreadyExists("there are two functions named '{}'", function->name());
  const size_t position = found->second;
  state.by_name.erase(found);  // its key belongs to the old function
  state.by_name.emplace(function->name(), position);
  std::swap(state.functions[position], function);
  state.replaced.push_back(std::move(function));
}

std::string FunctionLibrary::UniqueName(const std::string& base) const {
  if (!Find(base)) return base;
  for (int i = 1;; ++i) {
    std::string name = fmt::format("{}_{}", base, i);
    if (!Find(name)) return name;
  }
}

const Function* FunctionLibrary::Find(std::string_view name) const {
  const auto found = state_->by_name.find(name);
  return found == state_->by_name.end() ? nullptr : state_->functions[found->second].get();
}

const Function& FunctionLibrary::Get(std::string_view name) const {
  const Function* function = Find(name);
  if (!function) throw NotFound("the library has no function named '{}'", name);
  return *function;
}

void FunctionLibrary::AddAll(const FunctionLibrary& other) {
  if (state_ == other.state_ || (other.empty() && other.gradients().empty())) return;
  if (empty() && gradients().empty()) {
    state_ = other.state_;
    return;
  }
  for (const auto& function : other.all()) {
    if (!Find(function->name())) Add(function);
  }
  for (const auto& [function, gradient] : other.gradients()) {
    if (!FindGradient(function)) SetGradient(function, gradient);
  }
}

FunctionLibrary FunctionLibrary::ReachableFrom(const Function& function) const {
  FunctionLibrary part = ReachableFrom(function.callees());
  const std::string* gradient = FindGradient(function.name());
  if (gradient == nullptr) return part;
  part.AddAll(ReachableFrom(std::vector<std::string>{*gradient}));
  if (part.Find(function.name())) part.SetGradient(function.name(), *gradient);
  return part;
}

FunctionLibrary FunctionLibrary::ReachableFrom(const std::vector<Node*>& nodes) const {
  std::vector<std::string> names;
  for (const Node* node : nodes) CollectNames(*node, &names);
  return ReachableFrom(names);
}

FunctionLibrary FunctionLibrary::ReachableFrom(const std::vector<std::string>& names) const {
  FunctionLibrary part;
  std::unordered_set<std::string_view> seen;
  std::vector<const Function*> open;
  const auto reach = [&](std::string_view name) {
    const auto found = state_->by_name.find(name);
    if (found == state_->by_name.end() || !seen.insert(found->first).second) return;
    part.Add(state_->functions[found->second]);
    open.push_back(state_->functions[found->second].get());
  };
  for (const std::string& name : names) reach(name);
  while (!open.empty()) {
    const Function* next = open.back();
    open.pop_back();
    for (const std::string& name : next->callees()) reach(name);
    if (const std::string* gradient = FindGradient(next->name())) {
      reach(*gradient);
      if (seen.contains(next->name())) part.SetGradient(next->name(), *gradient);
    }
  }
  return part;
}

void FunctionLibrary::SetGradient(const std::string& function, const std::string& gradient) {
  const std::string* known = FindGradient(function);
  if (known == nullptr) {
    Change().gradients.emplace_back(function, gradient);
  } else if (*known != gradient) {
    throw AlreadyExists("function '{}' has two gradients: '{}' and '{}'", function, *known,
                        gradient);
  }
}

const std::string* FunctionLibrary::FindGradient(std::string_view function) const {
  for (const auto& [name, gradient] : state_->gradients) {
    if (name == function) return &gradient;
  }
  return nullptr;
}

}  // namespace sextant
