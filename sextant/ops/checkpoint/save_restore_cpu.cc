#include <set>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/thread_team.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/formats/checkpoint_v1.h"
#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/formats/tensor_bundle_writer.h"

namespace sextant {
namespace {

const std::string& Text(KernelContext& ctx, int i, const char* name) {
  const Tensor& input = ctx.input(i);
  if (input.rank() != 0) {
    throw InvalidArgument("{} must be a scalar, got shape {}", name, input.shape().ToString());
  }
  return input.scalar<std::string>();
}

// A vector of `count` strings.
std::span<const std::string> Texts(KernelContext& ctx, int i, const char* name, int64_t count) {
  const Tensor& input = ctx.input(i);
  if (input.rank() != 1 || input.num_elements() != count) {
    throw InvalidArgument("{} must be a vector of {}, got shape {}", name, count,
                          input.shape().ToString());
  }
  return input.flat<std::string>();
}

template <typename Writer>
void AddTensors(KernelContext& ctx, int first, std::span<const std::string> names,
                std::span<const std::string> specs, Writer& writer) {
  for (size_t i = 0; i < names.size(); ++i) {
    const Tensor& tensor = ctx.input(first + static_cast<int>(i));
    if (specs.empty() || specs[i].empty()) {
      writer.Add(names[i], tensor);
    } else {
      const ShapeAndSlice spec = ShapeAndSlice::Parse(specs[i]);
      writer.AddSlice(names[i], spec.shape, spec.slice, tensor);
    }
  }
  writer.Finish();
}

void SaveV2Kernel(KernelContext& ctx) {
  const int count = ctx.num_inputs() - 3;
  const auto names = Texts(ctx, 1, "tensor_names", count);
  const auto specs = Texts(ctx, 2, "shape_and_slices", count);
  TensorBundleWriter writer(Text(ctx, 0, "prefix"));
  AddTensors(ctx, 3, names, specs, writer);
}

void SaveKernel(KernelContext& ctx) {
  const int count = ctx.num_inputs() - 2;
  CheckpointV1Writer writer(Text(ctx, 0, "filename"));
  AddTensors(ctx, 2, Texts(ctx, 1, "tensor_names", count), {}, writer);
}

void SaveSlicesKernel(KernelContext& ctx) {
  const int count = ctx.num_inputs() - 3;
  const auto names = Texts(ctx, 1, "tensor_names", count);
  const auto specs = Texts(ctx, 2, "shapes_and_slices", count);
  CheckpointV1Writer writer(Text(ctx, 0, "filename"));
  AddTensors(ctx, 3, names, specs, writer);
}

// The slice that a spec names, after checking that the stored tensor is what is asked for.
TensorSlice CheckedSlice(const BundleTensorInfo& info, const std::string& spec, DType dtype) {
  if (info.dtype != dtype) {
    throw InvalidArgument("'{}' was saved as {} and cannot be restored as {}", info.name,
                          DTypeName(info.dtype), DTypeName(dtype));
  }
  if (spec.empty()) return TensorSlice::Full(info.shape.rank());
  const ShapeAndSlice parsed = ShapeAndSlice::Parse(spec);
  if (parsed.shape != info.shape) {
    throw InvalidArgument("'{}' was saved with shape {}, the slice asks for one of shape {}",
                          info.name, info.shape.ToString(), parsed.shape.ToString());
  }
  return parsed.slice;
}

void RestoreFromV1(KernelContext& ctx, const CheckpointV1Reader& reader, const std::string& name,
                   const std::string& spec, int output) {
  const TensorSlice slice = CheckedSlice(reader.Info(name), spec, ctx.output_type(output));
  ctx.SetOutput(output, reader.ReadSlice(name, slice));
}

void RestoreV2Kernel(KernelContext& ctx) {
  const std::string& prefix = Text(ctx, 0, "prefix");
  const auto names = Texts(ctx, 1, "tensor_names", ctx.num_outputs());
  const auto specs = Texts(ctx, 2, "shape_and_slices", ctx.num_outputs());
  FileSystem& files = FileSystem::ForPath(prefix);
  if (!files.Exists(BundleIndexPath(prefix)) && !files.Glob(prefix).empty()) {
    const CheckpointV1Reader reader(prefix);
    for (int i = 0; i < ctx.num_outputs(); ++i) RestoreFromV1(ctx, reader, names[i], specs[i], i);
    return;
  }
  const ThreadTeam::Limit limit(ctx.threads());
  const TensorBundleReader reader(prefix);
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    const BundleTensorInfo info = reader.Info(names[i]);
    const TensorSlice slice = CheckedSlice(info, specs[i], ctx.output_type(i));
    if (slice.Covers(info.shape)) {
      reader.ReadInto(names[i], &ctx.AllocateOutput(i, info.shape));
    } else {
      ctx.SetOutput(i, reader.ReadSlice(names[i], slice));
    }
  }
}

void RestoreKernel(KernelContext& ctx) {
  const CheckpointV1Reader reader(Text(ctx, 0, "file_pattern"));
  RestoreFromV1(ctx, reader, Text(ctx, 1, "tensor_name"), "", 0);
}

void RestoreSliceKernel(KernelContext& ctx) {
  const CheckpointV1Reader reader(Text(ctx, 0, "file_pattern"));
  RestoreFromV1(ctx, reader, Text(ctx, 1, "tensor_name"), Text(ctx, 2, "shape_and_slice"), 0);
}

class MergeV2CheckpointsKernel : public Kernel {
 public:
  explicit MergeV2CheckpointsKernel(KernelInit& init)
      : delete_old_dirs_(init.attr<bool>("delete_old_dirs")),
        allow_missing_files_(init.attr<bool>("allow_missing_files")) {}

  void Compute(KernelContext& ctx) override {
    const auto prefixes = Texts(ctx, 0, "checkpoint_prefixes", ctx.input(0).num_elements());
    const std::string& destination = Text(ctx, 1, "destination_prefix");
    MergeTensorBundles(prefixes, destination, {.allow_missing_files = allow_missing_files_});
    if (!delete_old_dirs_) return;
    std::set<std::string> directories;
    for (const std::string& prefix : prefixes) directories.emplace(DirectoryName(prefix));
    directories.erase(std::string(DirectoryName(destination)));
    for (const std::string& directory : directories) {
      try {
        FileSystem::ForPath(directory).Delete(directory);
      } catch (const Error&) {  // others' files are in it: the checkpoint is whole all the same
      }
    }
  }

 private:
  const bool delete_old_dirs_;
  const bool allow_missing_files_;
};

}  // namespace

void RegisterSaveRestoreCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("SaveV2").Function(SaveV2Kernel));
  registry.Add(KernelDef("RestoreV2").Function(RestoreV2Kernel));
  registry.Add(KernelDef("MergeV2Checkpoints").Make<MergeV2CheckpointsKernel>());
  registry.Add(KernelDef("Save").Function(SaveKernel));
  registry.Add(KernelDef("SaveSlices").Function(SaveSlicesKernel));
  registry.Add(KernelDef("Restore").Function(RestoreKernel));
  registry.Add(KernelDef("RestoreSlice").Function(RestoreSliceKernel));
}

}  // namespace sextant
