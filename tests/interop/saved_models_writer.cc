// A model with all that an export can hold: a variable, a partitioned one, one of int64, a table
// filled from an asset, a conditional. Exported, and saved by a Saver of one and of several files.
#include "sextant/base/file_system.h"
#include "sextant/nn/get_variable.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/gather.h"
#include "sextant/ops/lookup/hash_table.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/matmul.h"
#include "sextant/ops/state/variable.h"
#include "sextant/runtime/session.h"
#include "sextant/train/saved_model_builder.h"
#include "sextant/train/saver.h"
#include "tests/interop/writers.h"

namespace sextant::interop {
namespace {

Tensor Numbers(const Shape& shape, float first) {
  Tensor tensor(DType::kFloat, shape);
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    tensor.data<float>()[i] = first + 0.25f * static_cast<float>(i);
  }
  return tensor;
}

// A variable of 5 rows, cut after the third.
Output PartitionedRows() {
  const Variable top("rows/part_0", Numbers({3, 4}, 0)), bottom("rows/part_1", Numbers({2, 4}, 3));
  SetSlice(top, {"rows", Shape{5, 4}, {0, 0}});
  SetSlice(bottom, {"rows", Shape{5, 4}, {3, 0}});
  return OpBuilder("ConcatV2").Input({top, bottom}).Input(Const(Tensor(int32_t{0}))).Build();
}

}  // namespace

void WriteSavedModels(const std::string& folder) {
  FileSystem& files = FileSystem::ForPath(folder);
  const std::string vocabulary = JoinPath(folder, "source/words.txt");
  files.CreateDirectories(JoinPath(folder, "source"));
  files.WriteFileAtomically(vocabulary, "red\ngreen\nblue\n");

  Graph graph;
  const GraphScope scope(graph);
  const Output words = Placeholder(DType::kString, {PartialShape::kUnknown}, "words");
  const Output table = HashTable(DType::kString, DType::kInt64, {.name = "table"});
  const Output path = Const(Tensor(vocabulary), "vocabulary");
  const Operation fill = InitializeTableFromTextFile(table, path);
  graph.AddToCollection("asset_filepaths", path);
  const Output ids = LookupTableFind(table, words, Const(Tensor(int64_t{4})));
  const Variable kernel("dense/kernel", Numbers({4, 2}, -1));
  const Variable bias("dense/bias", Numbers({2}, 10));
  const Variable step("global_step", Tensor(int64_t{0}), {.trainable = false});
  const Output y = MatMul(Gather(PartitionedRows(), ids), kernel) + bias;
  Saver saver(graph, {.max_to_keep = 2});
  Saver sharded(graph, {.sharded = true});

  Session session(graph);
  session.Run(GlobalVariablesInitializer());
  session.Run(step.AssignAdd(Const(Tensor(int64_t{7}))));
  for (const int64_t number : {1, 2, 3}) saver.Save(session, folder + "/run/model.ckpt", number);
  sharded.Save(session, folder + "/sharded/model.ckpt");

  SavedModelBuilder builder(folder + "/export");
  builder.AddMetaGraphAndVariables(
      session, {"serve"},
      {.signatures = {{"serving_default",
                       {.inputs = {{"words", words}}, .outputs = {{"ids", ids}, {"y", y}}}}},
       .main_op = fill,
       .strip_default_attrs = true});
  builder.AddExtraAssets({{"note/readme.txt", vocabulary}});
  builder.Save();
}

}  // namespace sextant::interop
