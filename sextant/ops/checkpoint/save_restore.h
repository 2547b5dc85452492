// SaveV2, RestoreV2, MergeV2Checkpoints, Save, SaveSlices, Restore, RestoreSlice: checkpoints of
// format V2 (formats/tensor_bundle_writer.h) and V1.
//
// A shape_and_slice is "" for a whole tensor, or "3 4 0,2:-" for the first two rows of a tensor of
// shape [3,4].
#pragma once

#include <vector>

#include "sextant/graph/output.h"
#include "sextant/tensor/dtype.h"

namespace sextant {

// Writes tensors[i] under tensor_names[i] to the checkpoint PREFIX.index, PREFIX.data-...
Operation SaveV2(Output prefix, Output tensor_names, Output shape_and_slices,
                 const std::vector<Output>& tensors);
// Reads tensors of these names and types from a V2 or V1 checkpoint.
std::vector<Output> RestoreV2(Output prefix, Output tensor_names, Output shape_and_slices,
                              const std::vector<DType>& dtypes);

struct MergeV2CheckpointsOptions {
  bool delete_old_dirs = true;  // the emptied directories of the parts
  bool allow_missing_files = false;
};
// Makes one checkpoint of several, whose data files become its shards.
Operation MergeV2Checkpoints(Output checkpoint_prefixes, Output destination_prefix,
                             const MergeV2CheckpointsOptions& options = {});

// V1: one file, or several of them read by a pattern.
Operation Save(Output filename, Output tensor_names, const std::vector<Output>& data);
Operation SaveSlices(Output filename, Output tensor_names, Output shapes_and_slices,
                     const std::vector<Output>& data);
Output Restore(Output file_pattern, Output tensor_name, DType dtype);
Output RestoreSlice(Output file_pattern, Output tensor_name, Output shape_and_slice, DType dtype);

}  // namespace sextant
