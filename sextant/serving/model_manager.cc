#include "sextant/serving/model_manager.h"

#include <algorithm>

#include "sextant/base/file_system.h"
#include "sextant/base/nearest_name.h"
#include "sextant/base/printable.h"
#include "sextant/serving/model_manager_state.h"

namespace sextant::serving {

// ---- configuration

void ModelManager::State::SetModels(const std::vector<ModelConfig>& configs) {
  CheckModelConfigs(configs);
  for (const ModelConfig& config : configs) {
    FileSystem& files = FileSystem::ForPath(config.base_path);
    if (!files.Exists(config.base_path)) {
      throw NotFound("model '{}': there is no {}", config.name, config.base_path);
    }
  }
  {
    const std::lock_guard lock(mutex_);
    for (const ModelConfig& config : configs) {
      const auto found = models_.find(config.name);
      if (found == models_.end() || options_.labels_for_unavailable) continue;
      found->second->CheckLabels(config);
    }
    std::map<std::string, std::shared_ptr<ModelVersions>, std::less<>> models;
    for (const ModelConfig& config : configs) {
      auto& entry = models[config.name];
      const auto found = models_.find(config.name);
      if (found != models_.end() && found->second->config.base_path == config.base_path) {
        entry = found->second;
        entry->config = config;
      } else {
        entry = std::make_shared<ModelVersions>(config, options_.settle);
      }
    }
    for (const auto& [name, old] : models_) {
      const auto kept = models.find(name);
      if (kept != models.end() && kept->second == old) continue;
      old->removed = true;
      old->CancelLoads();
      for (auto& [version, entry] : old->versions) {
        if (!entry.available()) continue;
        entry.status.state = VersionState::kUnloading;
        unloading_.emplace_back(old, version);
      }
    }
    models_ = std::move(models);
    ++polls_asked_;
    PublishLocked();
  }
  wake_.notify_all();
}

std::vector<ModelConfig> ModelManager::State::models() const {
  const std::lock_guard lock(mutex_);
  std::vector<ModelConfig> configs;
  for (const auto& [name, model] : models_) configs.push_back(model->config);
  return configs;
}

// ---- look-up

const ModelVersions& ModelManager::State::FindModelLocked(std::string_view name) const {
  const auto found = models_.find(name);
  if (found != models_.end()) return *found->second;
  std::vector<std::string> names;
  for (const auto& [known, model] : models_) names.push_back(known);
  throw NotFound("there is no model '{}'{}", ShownName(name), DidYouMeanOneOf(name, names));
}

std::shared_ptr<const Servable> ModelManager::State::Find(std::string_view name,
                                                          const VersionChoice& choice) const {
  const auto current = table();
  const auto found = current->find(name);
  if (found != current->end()) {
    if (auto servable = found->second.Choose(choice)) return servable;
  }
  const std::lock_guard lock(mutex_);
  FindModelLocked(name).ThrowNotAvailable(choice);
}

std::vector<VersionStatus> ModelManager::State::StatusOf(std::string_view name,
                                                         const VersionChoice& choice) const {
  const std::lock_guard lock(mutex_);
  return FindModelLocked(name).Statuses(choice);
}

void ModelManager::State::PublishLocked() {
  auto next = std::make_shared<ServableTable>();
  for (const auto& [name, model] : models_) {
    ModelView& view = (*next)[name];
    view.config = model->config;
    for (const auto& [version, entry] : model->versions) {
      if (entry.available()) view.versions[version] = entry.servable;
    }
  }
  const std::lock_guard lock(table_mutex_);
  table_ = std::move(next);
}

std::string ModelManager::State::NotReadyLocked() const {
  std::string missing;
  for (const auto& [name, model] : models_) {
    const std::string own = model->NotReady();
    if (!own.empty()) missing += (missing.empty() ? "" : "; ") + own;
  }
  return missing;
}

bool ModelManager::State::IdleLocked() const {
  if (polls_done_ < polls_asked_) return false;
  return std::ranges::all_of(
      models_, [](const auto& model) { return model.second->polled && model.second->idle(); });
}

bool ModelManager::State::WaitUntilReady(std::chrono::milliseconds limit) const {
  Lock lock(mutex_);
  return wake_.wait_for(lock, limit, [&] { return stopping_ || NotReadyLocked().empty(); });
}

void ModelManager::State::PollNow() {
  Lock lock(mutex_);
  const int64_t asked = ++polls_asked_;
  wake_.notify_all();
  wake_.wait(lock, [&] { return stopping_ || (polls_done_ >= asked && IdleLocked()); });
}

ModelManager::ModelManager(const ModelManagerOptions& options, std::function<void()> changed)
    : state_(std::make_unique<State>(options, std::move(changed))) {}
ModelManager::~ModelManager() = default;
void ModelManager::SetModels(const std::vector<ModelConfig>& models) { state_->SetModels(models); }
std::vector<ModelConfig> ModelManager::models() const { return state_->models(); }
std::shared_ptr<const Servable> ModelManager::Find(std::string_view model,
                                                   const VersionChoice& choice) const {
  return state_->Find(model, choice);
}
std::vector<VersionStatus> ModelManager::StatusOf(std::string_view model,
                                                  const VersionChoice& choice) const {
  return state_->StatusOf(model, choice);
}
std::string ModelManager::NotReady() const { return state_->NotReady(); }
bool ModelManager::WaitUntilReady(std::chrono::milliseconds limit) const {
  return state_->WaitUntilReady(limit);
}
void ModelManager::PollNow() { state_->PollNow(); }
ModelManager::Counts ModelManager::counts() const { return state_->counts(); }
std::vector<std::shared_ptr<const Servable>> ModelManager::loaded() const {
  std::vector<std::shared_ptr<const Servable>> all;
  for (const auto& [name, view] : *state_->table()) {
    for (const auto& [version, servable] : view.versions) all.push_back(servable);
  }
  return all;
}

}  // namespace sextant::serving
