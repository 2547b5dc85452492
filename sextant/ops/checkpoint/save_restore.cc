#include "sextant/ops/checkpoint/save_restore.h"

#include "sextant/formats/tensor_slice.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

// The shape that a spec gives, when it is known.
PartialShape SpecShape(const std::string& spec) {
  if (spec.empty()) return {};
  const ShapeAndSlice parsed = ShapeAndSlice::Parse(spec);
  return parsed.slice.ShapeIn(parsed.shape);
}

void SaveShape(ShapeContext& c) {
  c.InputOfRank(0, 0);
  c.InputOfRank(1, 1);
}

void SaveSlicesShape(ShapeContext& c) {
  SaveShape(c);
  c.InputOfRank(2, 1);
}

void RestoreV2Shape(ShapeContext& c) {
  SaveSlicesShape(c);
  const std::optional<Tensor> specs = c.InputValue(2);
  for (int i = 0; i < c.num_outputs(); ++i) {
    const bool known = specs && i < specs->num_elements();
    c.set_output(i, known ? SpecShape(specs->flat<std::string>()[i]) : PartialShape());
  }
}

void RestoreShape(ShapeContext& c) {
  c.InputOfRank(0, 0);
  c.InputOfRank(1, 0);
  c.set_output(0, PartialShape());
}

void RestoreSliceShape(ShapeContext& c) {
  RestoreShape(c);
  c.InputOfRank(2, 0);
  if (const std::optional<Tensor> spec = c.InputValue(2)) {
    c.set_output(0, SpecShape(spec->scalar<std::string>()));
  }
}

void MergeShape(ShapeContext& c) {
  c.InputOfRank(0, 1);
  c.InputOfRank(1, 0);
}

}  // namespace

Operation SaveV2(Output prefix, Output tensor_names, Output shape_and_slices,
                 const std::vector<Output>& tensors) {
  return OpBuilder("SaveV2")
      .Input(prefix)
      .Input(tensor_names)
      .Input(shape_and_slices)
      .Input(tensors)
      .BuildOperation();
}

std::vector<Output> RestoreV2(Output prefix, Output tensor_names, Output shape_and_slices,
                              const std::vector<DType>& dtypes) {
  return OpBuilder("RestoreV2")
      .Input(prefix)
      .Input(tensor_names)
      .Input(shape_and_slices)
      .Attr("dtypes", dtypes)
      .BuildAll();
}

Operation MergeV2Checkpoints(Output checkpoint_prefixes, Output destination_prefix,
                             const MergeV2CheckpointsOptions& options) {
  return OpBuilder("MergeV2Checkpoints")
      .Input(checkpoint_prefixes)
      .Input(destination_prefix)
      .Attr("delete_old_dirs", options.delete_old_dirs)
      .Attr("allow_missing_files", options.allow_missing_files)
      .BuildOperation();
}

Operation Save(Output filename, Output tensor_names, const std::vector<Output>& data) {
  return OpBuilder("Save").Input(filename).Input(tensor_names).Input(data).BuildOperation();
}

Operation SaveSlices(Output filename, Output tensor_names, Output shapes_and_slices,
                     const std::vector<Output>& data) {
  return OpBuilder("SaveSlices")
      .Input(filename)
      .Input(tensor_names)
      .Input(shapes_and_slices)
      .Input(data)
      .BuildOperation();
}

Output Restore(Output file_pattern, Output tensor_name, DType dtype) {
  return OpBuilder("Restore").Input(file_pattern).Input(tensor_name).Attr("dt", dtype).Build();
}

Output RestoreSlice(Output file_pattern, Output tensor_name, Output shape_and_slice, DType dtype) {
  return OpBuilder("RestoreSlice")
      .Input(file_pattern)
      .Input(tensor_name)
      .Input(shape_and_slice)
      .Attr("dt", dtype)
      .Build();
}

void RegisterSaveRestore(OpRegistry& registry) {
  constexpr const char* kWrites = "writes files instead of giving a value";
  constexpr const char* kReads = "the value comes from a file";
  registry.Add(
      OpDef("SaveV2")
          .Inputs("prefix:string, tensor_names:string, shape_and_slices:string, tensors:dtypes")
          .Attrs("dtypes:list(type)>=1")
          .Stateful()
          .Doc("Writes tensors, or slices of larger ones, to a checkpoint. The files appear when "
               "all of it is on disk.")
          .Shape(SaveSlicesShape)
          .NotDifferentiable(kWrites));
  registry.Add(OpDef("RestoreV2")
                   .Inputs("prefix:string, tensor_names:string, shape_and_slices:string")
                   .Outputs("tensors:dtypes")
                   .Attrs("dtypes:list(type)>=1")
                   .Stateful()
                   .Doc("Reads tensors, or slices of them, from a checkpoint.")
                   .Shape(RestoreV2Shape)
                   .NotDifferentiable(kReads));
  registry.Add(OpDef("MergeV2Checkpoints")
                   .Inputs("checkpoint_prefixes:string, destination_prefix:string")
                   .Attrs("delete_old_dirs:bool=True; allow_missing_files:bool=False")
                   .Stateful()
                   .Doc("Makes one checkpoint of several by renaming their data files and merging "
                        "their indexes.")
                   .Shape(MergeShape)
                   .NotDifferentiable(kWrites));
  registry.Add(OpDef("Save")
                   .Inputs("filename:string, tensor_names:string, data:T")
                   .Attrs("T:list(type)>=1")
                   .Stateful()
                   .Doc("Writes tensors to a V1 checkpoint, one file.")
                   .Shape(SaveShape)
                   .NotDifferentiable(kWrites));
  registry.Add(OpDef("SaveSlices")
                   .Inputs("filename:string, tensor_names:string, shapes_and_slices:string, data:T")
                   .Attrs("T:list(type)>=1")
                   .Stateful()
                   .Doc("Writes tensors, or slices of larger ones, to a V1 checkpoint, one file.")
                   .Shape(SaveSlicesShape)
                   .NotDifferentiable(kWrites));
  registry.Add(OpDef("Restore")
                   .Inputs("file_pattern:string, tensor_name:string")
                   .Outputs("tensor:dt")
                   .Attrs("dt:type; preferred_shard:int=-1")
                   .Stateful()
                   .Doc("Reads a tensor from V1 checkpoint files.")
                   .Shape(RestoreShape)
                   .NotDifferentiable(kReads));
  registry.Add(OpDef("RestoreSlice")
                   .Inputs("file_pattern:string, tensor_name:string, shape_and_slice:string")
                   .Outputs("tensor:dt")
                   .Attrs("dt:type; preferred_shard:int=-1")
                   .Stateful()
                   .Doc("Reads a tensor, or a slice of one, from V1 checkpoint files.")
                   .Shape(RestoreSliceShape)
                   .NotDifferentiable(kReads));
}

}  // namespace sextant
