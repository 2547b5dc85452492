#include "sextant/train/saved_model_builder.h"

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/temporary_file.h"
#include "sextant/device/resource_manager.h"
#include "sextant/device/variable.h"
#include "sextant/formats/tensor_bundle_writer.h"
#include "sextant/formats/tensor_slice.h"
#include "sextant/graph/meta_graph.h"
#include "sextant/proto/saved_model.pb.h"
#include "sextant/runtime/session.h"
#include "sextant/tensor/tensor_proto.h"
#include "sextant/train/own_resources.h"
#include "sextant/train/saver_graph.h"

namespace sextant {
namespace {

using proto::MetaGraphDef;

constexpr std::string_view kTemporary = "temp-";  // as TensorFlow's, which servers pass over

// A directory beside the final one, on the same file system.
std::string TemporaryBeside(const std::string& directory) {
  std::string whole = directory;
  while (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
  return TemporaryName(
      JoinPath(DirectoryName(whole), fmt::format("{}{}", kTemporary, BaseName(whole))));
}

void CheckInGraph(Output tensor, const Graph& graph, std::string_view what) {
  if (!tensor || &tensor.graph() != &graph) {
    throw InvalidArgument("{} is not a tensor of the graph that is exported", what);
  }
}

void FillTensorInfo(Output tensor, proto::TensorInfo* info) {
  info->set_name(tensor.name());
  info->set_dtype(static_cast<proto::DataType>(RemoveRef(tensor.dtype())));
  ShapeToProto(tensor.shape(), info->mutable_tensor_shape());
}

void FillSignature(const std::string& key, const SignatureSpec& spec, const Graph& graph,
                   proto::SignatureDef* def) {
  def->set_method_name(spec.method_name);
  for (const auto& [name, tensor] : spec.inputs) {
    CheckInGraph(tensor, graph, fmt::format("input '{}' of signature '{}'", name, key));
    FillTensorInfo(tensor, &(*def->mutable_inputs())[name]);
  }
  for (const auto& [name, tensor] : spec.outputs) {
    CheckInGraph(tensor, graph, fmt::format("output '{}' of signature '{}'", name, key));
    FillTensorInfo(tensor, &(*def->mutable_outputs())[name]);
  }
}

// The graph with nodes that restore its variables, in a copy: sessions may be running it.
MetaGraphDef WithSaver(const Graph& graph, const MetaGraphSpec& spec) {
  const std::vector<SavedTensor> tensors = SavedTensorsOf(graph);
  const MetaGraphExportOptions options{.strip_default_attrs = spec.strip_default_attrs};
  if (tensors.empty()) return ExportMetaGraphDef(graph, options);
  Graph copy;
  ImportMetaGraphDef(ExportMetaGraphDef(graph), copy);
  const proto::SaverDef saver = AddSaverGraph(copy, tensors, {.sharded = true});
  MetaGraphDef meta_graph = ExportMetaGraphDef(copy, options);
  *meta_graph.mutable_saver_def() = saver;
  return meta_graph;
}

Tensor ValueOf(Session& session, const std::string& variable) {
  const Node& node = *session.graph().FindNode(variable);
  const Attr* name = node.FindAttr("shared_name");
  const Attr* container = node.FindAttr("container");
  std::string key = name == nullptr ? "" : name->Get<std::string>();
  if (key.empty()) key = variable;
  std::string where = container == nullptr ? "" : container->Get<std::string>();
  if (where.empty()) where = "localhost";
  const auto resource = session.resources().Lookup<VariableResource>(where, key);
  if (resource == nullptr) {
    train::ThrowIfOfAnotherTask(session, node);
    throw FailedPrecondition("variable '{}' has no value", variable);
  }
  return resource->Read();
}

void WriteVariables(Session& session, const std::string& directory) {
  const std::vector<SavedTensor> tensors = SavedTensorsOf(session.graph());
  if (tensors.empty()) return;
  TensorBundleWriter writer(SavedVariablesPrefix(directory));
  for (const SavedTensor& tensor : tensors) {
    const Tensor value = ValueOf(session, tensor.variable);
    if (tensor.shape_and_slice.empty()) {
      writer.Add(tensor.key, value);
    } else {
      const ShapeAndSlice place = ShapeAndSlice::Parse(tensor.shape_and_slice);
      writer.AddSlice(tensor.key, place.shape, place.slice, value);
    }
  }
  writer.Finish();
}

}  // namespace

SavedModelBuilder::SavedModelBuilder(std::string directory)
    : directory_(std::move(directory)),
      temporary_(TemporaryBeside(directory_)),
      model_(std::make_unique<proto::SavedModel>()) {
  FileSystem& files = FileSystem::ForPath(directory_);
  if (files.Exists(directory_) && !files.ListDirectory(directory_).empty()) {
    throw AlreadyExists("{} exists and is not empty; export to another directory", directory_);
  }
  files.CreateDirectories(temporary_);
  // What processes that were killed left.
  DeleteStaleTemporaries(files, std::string(DirectoryName(temporary_)), kTemporary);
  model_->set_saved_model_schema_version(1);
}

SavedModelBuilder::~SavedModelBuilder() {
  if (saved_) return;
  try {
    FileSystem::ForPath(temporary_).DeleteRecursively(temporary_);
  } catch (const Error&) {  // a destructor has nobody to tell
  }
}

void SavedModelBuilder::AddMetaGraphAndVariables(Session& session,
                                                 const std::set<std::string>& tags,
                                                 const MetaGraphSpec& spec) {
  if (model_->meta_graphs_size() > 0) {
    throw FailedPrecondition("only the first graph of a SavedModel comes with variables");
  }
  WriteVariables(session, temporary_);
  AddMetaGraph(session.graph(), tags, spec);
}

void SavedModelBuilder::AddMetaGraph(const Graph& graph, const std::set<std::string>& tags,
                                     const MetaGraphSpec& spec) {
  MetaGraphDef meta_graph = WithSaver(graph, spec);
  for (const std::string& tag : tags) meta_graph.mutable_meta_info_def()->add_tags(tag);
  for (const auto& [key, signature] : spec.signatures) {
    FillSignature(key, signature, graph, &(*meta_graph.mutable_signature_def())[key]);
  }
  if (spec.main_op) {
    if (&spec.main_op.node()->graph() != &graph) {
      throw InvalidArgument("the main op is not of the graph that is exported");
    }
    auto& collection = (*meta_graph.mutable_collection_def())["saved_model_main_op"];
    collection.mutable_node_list()->add_value(spec.main_op.name());
  }
  AddAssets(graph, spec, &meta_graph);
  *model_->add_meta_graphs() = std::move(meta_graph);
}

void SavedModelBuilder::AddAssets(const Graph& graph, const MetaGraphSpec& spec,
                                  MetaGraphDef* meta_graph) {
  std::vector<Output> assets = spec.assets;
  for (const Output& asset : graph.Collection("asset_filepaths")) assets.push_back(asset);
  std::set<std::string> seen;
  for (const Output& asset : assets) {
    CheckInGraph(asset, graph, "an asset");
    if (!seen.insert(asset.name()).second) continue;
    const Node& node = *asset.node();
    const Tensor* path = nullptr;
    if (node.type() == "Const") path = &node.attr<Tensor>("value");
    if (path == nullptr || path->dtype() != DType::kString || path->num_elements() != 1) {
      throw InvalidArgument("the asset '{}' is not a constant with the path of a file",
                            asset.name());
    }
    proto::AssetFileDef* def = meta_graph->add_asset_file_def();
    def->mutable_tensor_info()->set_name(asset.name());
    def->set_filename(AddAsset(path->scalar<std::string>()));
  }
}

std::string SavedModelBuilder::AddAsset(const std::string& path) {
  const std::string contents = FileSystem::ForPath(path).ReadFile(path);
  FileSystem& files = FileSystem::ForPath(temporary_);
  const std::string base(BaseName(path));
  for (int number = 0;; ++number) {
    std::string name = number == 0 ? base : fmt::format("{}_{}", base, number);
    const std::string target = SavedAssetPath(temporary_, name);
    const auto [known, added] = asset_sources_.emplace(name, path);
    if (added) {
      files.CreateDirectories(std::string(DirectoryName(target)));
      files.WriteFileAtomically(target, contents);
      return name;
    }
    if (known->second == path || files.ReadFile(target) == contents) return name;
  }
}

void SavedModelBuilder::AddExtraAssets(const std::map<std::string, std::string>& extra) {
  FileSystem& files = FileSystem::ForPath(temporary_);
  for (const auto& [name, path] : extra) {
    const std::string target = SavedExtraAssetPath(temporary_, name);
    files.CreateDirectories(std::string(DirectoryName(target)));
    files.WriteFileAtomically(target, FileSystem::ForPath(path).ReadFile(path));
  }
}

const std::string& SavedModelBuilder::Save(SavedModelForm form) {
  if (saved_) throw FailedPrecondition("{} was saved already", directory_);
  if (model_->meta_graphs().empty()) {
    throw FailedPrecondition("{} has no graph to save", directory_);
  }
  FileSystem& files = FileSystem::ForPath(directory_);
  WriteSavedModel(temporary_, *model_, form);
  files.SyncDirectory(temporary_);
  try {
    files.Rename(temporary_, directory_);
  } catch (const Error&) {
    if (!files.Exists(directory_) || files.ListDirectory(directory_).empty()) throw;
    throw AlreadyExists("{} was made by another process meanwhile; export to another directory",
                        directory_);
  }
  saved_ = true;
  if (const std::string parent(DirectoryName(directory_)); !parent.empty()) {
    files.SyncDirectory(parent);
  }
  return directory_;
}

}  // namespace sextant
