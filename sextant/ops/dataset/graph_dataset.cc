// Data sets made by ops of a graph. They are defined so that graphs that have them are imported
// with types and shapes; what they would read is fed, or comes from a data::Dataset instead.
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

struct DatasetOp {
  const char* name;
  const char* inputs;
  const char* attrs;  // % stands for the types and shapes of the elements
  bool stateful;
  const char* doc;
};

constexpr DatasetOp kDatasetOps[] = {
    {"BatchDataset", "input_dataset:variant, batch_size:int64", "%; metadata:string=''", false,
     "Batches of consecutive elements."},
    {"BatchDatasetV2", "input_dataset:variant, batch_size:int64, drop_remainder:bool",
     "parallel_copy:bool=False; %; metadata:string=''", false, "Batches of consecutive elements."},
    {"CacheDataset", "input_dataset:variant, filename:string", "%; metadata:string=''", false,
     "Elements kept from the first iteration on."},
    {"ConcatenateDataset", "input_dataset:variant, another_dataset:variant",
     "%; metadata:string=''", false, "The elements of one data set, then those of another."},
    {"FilterDataset", "input_dataset:variant, other_arguments:Targuments",
     "predicate:func; Targuments:list(type)>=0; %; metadata:string=''", false,
     "The elements for which a function says so."},
    {"FixedLengthRecordDatasetV2",
     "filenames:string, header_bytes:int64, record_bytes:int64, footer_bytes:int64, "
     "buffer_size:int64, compression_type:string",
     "metadata:string=''", true, "Records of a fixed number of bytes of files."},
    {"FlatMapDataset", "input_dataset:variant, other_arguments:Targuments",
     "f:func; Targuments:list(type)>=0; %; metadata:string=''", false,
     "The elements of the data sets that a function makes of elements."},
    {"InterleaveDataset",
     "input_dataset:variant, other_arguments:Targuments, cycle_length:int64, "
     "block_length:int64",
     "f:func; Targuments:list(type)>=0; %; metadata:string=''", false,
     "The elements of the data sets that a function makes of elements, in turns."},
    {"MapAndBatchDataset",
     "input_dataset:variant, other_arguments:Targuments, batch_size:int64, "
     "num_parallel_calls:int64, drop_remainder:bool",
     "f:func; Targuments:list(type)>=0; %; preserve_cardinality:bool=False; "
     "metadata:string=''",
     false, "Batches of what a function makes of elements."},
    {"MapDataset", "input_dataset:variant, other_arguments:Targuments",
     "f:func; Targuments:list(type)>=0; %; use_inter_op_parallelism:bool=True; "
     "preserve_cardinality:bool=False; metadata:string=''",
     false, "What a function makes of each element."},
    {"ModelDataset", "input_dataset:variant",
     "algorithm:int=0; cpu_budget:int=0; ram_budget:int=0; %", false,
     "The same elements; once for measuring."},
    {"OptimizeDataset", "input_dataset:variant, optimizations:string",
     "%; optimization_configs:list(string)=[]", false,
     "The same elements, made by a rewritten pipeline."},
    {"OptionsDataset", "input_dataset:variant", "serialized_options:string; %; metadata:string=''",
     false, "The same elements, made with options."},
    {"PaddedBatchDatasetV2",
     "input_dataset:variant, batch_size:int64, padded_shapes:N*int64, "
     "padding_values:Toutput_types, drop_remainder:bool",
     "parallel_copy:bool=False; T%; N:int>=1; metadata:string=''", false,
     "Batches of consecutive elements, padded to one size."},
    {"ParallelInterleaveDatasetV4",
     "input_dataset:variant, other_arguments:Targuments, cycle_length:int64, "
     "block_length:int64, buffer_output_elements:int64, "
     "prefetch_input_elements:int64, num_parallel_calls:int64",
     "f:func; deterministic:string='default'; Targuments:list(type)>=0; %; "
     "metadata:string=''",
     false,
     "The elements of the data sets that a function makes of elements, in turns and "
     "ahead."},
    {"ParallelMapDataset",
     "input_dataset:variant, other_arguments:Targuments, num_parallel_calls:int32",
     "f:func; Targuments:list(type)>=0; %; use_inter_op_parallelism:bool=True; "
     "sloppy:bool=False; preserve_cardinality:bool=False; metadata:string=''",
     false, "What a function makes of each element, several at once."},
    {"ParallelMapDatasetV2",
     "input_dataset:variant, other_arguments:Targuments, num_parallel_calls:int64",
     "f:func; Targuments:list(type)>=0; %; use_inter_op_parallelism:bool=True; "
     "deterministic:string='default'; preserve_cardinality:bool=False; "
     "metadata:string=''",
     false, "What a function makes of each element, several at once."},
    {"PrefetchDataset", "input_dataset:variant, buffer_size:int64",
     "%; slack_period:int=0; legacy_autotune:bool=True; buffer_size_min:int=0; "
     "metadata:string=''",
     false, "The same elements, made ahead."},
    {"RangeDataset", "start:int64, stop:int64, step:int64",
     "%; metadata:string=''; replicate_on_split:bool=False", true, "Numbers from start to stop."},
    {"RepeatDataset", "input_dataset:variant, count:int64", "%; metadata:string=''", false,
     "The elements, several times."},
    {"ShardDataset", "input_dataset:variant, num_shards:int64, index:int64",
     "require_non_empty:bool=False; %; metadata:string=''", false, "Every num_shards-th element."},
    {"ShuffleAndRepeatDataset",
     "input_dataset:variant, buffer_size:int64, seed:int64, seed2:int64, count:int64",
     "%; reshuffle_each_iteration:bool=True; metadata:string=''", false,
     "The elements in random order, several times."},
    {"ShuffleDataset", "input_dataset:variant, buffer_size:int64, seed:int64, seed2:int64",
     "reshuffle_each_iteration:bool=True; %; metadata:string=''", false,
     "The elements in random order."},
    {"ShuffleDatasetV3",
     "input_dataset:variant, buffer_size:int64, seed:int64, seed2:int64, "
     "seed_generator:resource",
     "reshuffle_each_iteration:bool=True; %; metadata:string=''", true,
     "The elements in random order."},
    {"SkipDataset", "input_dataset:variant, count:int64", "%; metadata:string=''", false,
     "The elements after the first."},
    {"TFRecordDataset", "filenames:string, compression_type:string, buffer_size:int64",
     "metadata:string=''", true, "The records of TFRecord files."},
    {"TFRecordDatasetV2",
     "filenames:string, compression_type:string, buffer_size:int64, byte_offsets:int64",
     "metadata:string=''", true, "The records of TFRecord files."},
    {"TakeDataset", "input_dataset:variant, count:int64", "%; metadata:string=''", false,
     "The first elements."},
    {"TensorDataset", "components:Toutput_types", "T%; metadata:string=''", true,
     "One element: the components."},
    {"TensorSliceDataset", "components:Toutput_types",
     "T%; is_files:bool=False; metadata:string=''; replicate_on_split:bool=False", true,
     "The rows of the components."},
    {"TextLineDataset", "filenames:string, compression_type:string, buffer_size:int64",
     "metadata:string=''", true, "The lines of files."},
    {"ZipDataset", "input_datasets:N*variant", "%; N:int>=1; metadata:string=''", false,
     "Elements of several data sets side by side."},
};

}  // namespace

void RegisterGraphDataset(OpRegistry& registry) {
  for (const DatasetOp& op : kDatasetOps) {
    std::string attrs = op.attrs;
    if (const size_t at = attrs.find('%'); at != std::string::npos) {
      attrs.replace(at, 1, "output_types:list(type)>=1; output_shapes:list(shape)>=1");
    }
    OpDef def(op.name);
    def.Inputs(op.inputs).Outputs("handle:variant").Attrs(attrs).Doc(op.doc).Shape(shapes::Scalar);
    def.NotDifferentiable("it is a handle");
    if (op.stateful) def.Stateful();
    registry.Add(std::move(def));
  }
}

}  // namespace sextant
