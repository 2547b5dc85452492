#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"

namespace sextant {
namespace {

void NotRun(KernelContext&) {
  throw Unimplemented(
      "data sets made by ops of a graph are not run; feed the outputs of IteratorGetNext, or use a "
      "data::Dataset");
}

constexpr const char* kOps[] = {
    "BatchDataset",
    "BatchDatasetV2",
    "CacheDataset",
    "ConcatenateDataset",
    "FilterDataset",
    "FixedLengthRecordDatasetV2",
    "FlatMapDataset",
    "InterleaveDataset",
    "MapAndBatchDataset",
    "MapDataset",
    "ModelDataset",
    "OptimizeDataset",
    "OptionsDataset",
    "PaddedBatchDatasetV2",
    "ParallelInterleaveDatasetV4",
    "ParallelMapDataset",
    "ParallelMapDatasetV2",
    "PrefetchDataset",
    "RangeDataset",
    "RepeatDataset",
    "ShardDataset",
    "ShuffleAndRepeatDataset",
    "ShuffleDataset",
    "ShuffleDatasetV3",
    "SkipDataset",
    "TFRecordDataset",
    "TFRecordDatasetV2",
    "TakeDataset",
    "TensorDataset",
    "TensorSliceDataset",
    "TextLineDataset",
    "ZipDataset",
};

}  // namespace

void RegisterGraphDatasetCpu(KernelRegistry& registry) {
  for (const char* op : kOps) registry.Add(KernelDef(op).OwnOutputs().Function(NotRun));
}

}  // namespace sextant
