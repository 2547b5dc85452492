#include "sextant/train/saver.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/graph/meta_graph.h"
#include "sextant/nn/get_variable.h"
#include "sextant/ops/state/variable.h"
#include "sextant/proto/meta_graph.pb.h"
#include "sextant/runtime/session.h"
#include "sextant/train/saver_graph.h"

namespace sextant {
namespace {

class SaverTest : public testing::Test {
 protected:
  SaverTest() : scope_(graph_), directory_(NewDirectory()) {}

  static std::string NewDirectory() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    const std::string path =
        JoinPath(testing::TempDir(), std::string("saver_test_") + test->name());
    if (files().Exists(path)) files().DeleteRecursively(path);
    return path;
  }
  static FileSystem& files() { return FileSystem::ForPath("/"); }
  std::string Path(const std::string& name) const { return JoinPath(directory_, name); }

  Graph graph_;
  const GraphScope scope_;
  const std::string directory_;
};

TEST_F(SaverTest, RestoresWhatItSaved) {
  const Variable w("w", Tensor::Of<float>({1, 2})), n("n", Tensor(int64_t{5}));
  Saver saver(graph_);
  Session session(graph_);
  session.Run(GlobalVariablesInitializer());
  const std::string prefix = saver.Save(session, Path("model.ckpt"), 7);
  EXPECT_EQ(prefix, Path("model.ckpt-7"));
  session.Run(w.Assign(Const(Tensor::Of<float>({8, 9}))));
  saver.Restore(session, prefix);
  EXPECT_TRUE(session.Run(w.Read()).Identical(Tensor::Of<float>({1, 2})));
  EXPECT_EQ(TensorBundleReader(prefix).Read("n").scalar<int64_t>(), 5);
  EXPECT_EQ(LatestCheckpoint(directory_), prefix);
}

TEST_F(SaverTest, SavesAndRestoresByOtherNames) {
  const Variable w("w", Tensor::Of<float>({1, 2})), n("n", Tensor(int64_t{5}));
  Saver saver(graph_, {.variables = {{{"old/weights", w}}}});
  Session session(graph_);
  session.Run(GlobalVariablesInitializer());
  const std::string prefix = saver.Save(session, Path("model.ckpt"));
  const TensorBundleReader reader(prefix);
  EXPECT_TRUE(reader.Read("old/weights").Identical(Tensor::Of<float>({1, 2})));
  EXPECT_FALSE(reader.Contains("w"));
  EXPECT_FALSE(reader.Contains("n"));
  session.Run(w.Assign(Const(Tensor::Of<float>({8, 9}))));
  session.Run(n.Assign(Const(Tensor(int64_t{6}))));
  saver.Restore(session, prefix);
  EXPECT_TRUE(session.Run(w.Read()).Identical(Tensor::Of<float>({1, 2})));
  EXPECT_EQ(session.Run(n.Read()).scalar<int64_t>(), 6);
  Saver missing(graph_, {.variables = {{{"no/weights", w}}}});
  EXPECT_THROW(missing.Restore(session, prefix), Error);
  Graph other;
  EXPECT_THROW(Saver(other, {.variables = {{{"w", w}}}}), Error);
  EXPECT_THROW(Saver(graph_, {.variables = {{{"w", Variable()}}}}), Error);
}

TEST_F(SaverTest, KeepsTheBestBesideTheNewest) {
  const Variable w("w", Tensor(1.0f));
  Session session(graph_);
  std::vector<int> steps;
  const auto save = [&](Saver& saver, int step) {
    steps.push_back(step);
    return saver.Save(session, Path("model.ckpt"), step);
  };
  // The steps whose checkpoints are there; the state file lists the same.
  const auto there = [&](const Saver& saver) {
    std::vector<int> found;
    std::vector<std::string> paths;
    for (const int step : steps) {
      const std::string path = Path("model.ckpt-" + std::to_string(step));
      if (!CheckpointExists(path)) continue;
      found.push_back(step);
      paths.push_back(path);
    }
    EXPECT_EQ(saver.last_checkpoints(), paths);
    return found;
  };
  {
    Saver saver(graph_, {.max_to_keep = 2});
    session.Run(GlobalVariablesInitializer());
    saver.KeepBest(save(saver, 1));
    for (const int step : {2, 3, 4}) save(saver, step);
    EXPECT_EQ(there(saver), (std::vector<int>{1, 3, 4}));
    saver.KeepBest(Path("model.ckpt-3"));  // 1 goes at once
    EXPECT_EQ(there(saver), (std::vector<int>{3, 4}));
    for (const int step : {5, 6}) save(saver, step);
    EXPECT_EQ(there(saver), (std::vector<int>{3, 5, 6}));
  }
  // Another process goes on.
  Saver saver(graph_, {.max_to_keep = 2, .scope = "save_1"});
  saver.Recover(directory_);
  saver.KeepBest(Path("model.ckpt-3"));
  save(saver, 7);
  EXPECT_EQ(there(saver), (std::vector<int>{3, 6, 7}));
  saver.KeepBest(Path("model.ckpt-7"));
  EXPECT_EQ(there(saver), (std::vector<int>{6, 7}));
}

TEST_F(SaverTest, AddsTheNodesOfTensorFlow) {
  const Variable b("b", Tensor(1.0f)), a("a", Tensor(int64_t{1}));
  const Saver saver(graph_);
  EXPECT_EQ(saver.def().filename_tensor_name(), "save/Const:0");
  EXPECT_EQ(saver.def().save_tensor_name(), "save/control_dependency:0");
  EXPECT_EQ(saver.def().restore_op_name(), "save/restore_all");
  const Node& save = *graph_.FindNode("save/SaveV2");
  EXPECT_EQ(save.input(1).name(), "save/SaveV2/tensor_names:0");
  EXPECT_EQ(save.input(3).name(), "a/Read/ReadVariableOp:0");
  EXPECT_NE(graph_.FindNode("save/AssignVariableOp_1"), nullptr);
  const Saver sharded(graph_, {.sharded = true});
  EXPECT_EQ(sharded.def().save_tensor_name(), "save_1/Identity:0");
  EXPECT_NE(graph_.FindNode("save_1/MergeV2Checkpoints"), nullptr);
  EXPECT_NE(graph_.FindNode("save_1/restore_shard"), nullptr);
}

TEST_F(SaverTest, SavesPartsOfAVariableAsOneTensor) {
  const Variable top("v/part_0", Tensor::Of<float>(Shape{1, 2}, {1, 2}));
  const Variable bottom("v/part_1", Tensor::Of<float>(Shape{2, 2}, {3, 4, 5, 6}));
  SetSlice(top, {"v", Shape{3, 2}, {0, 0}});
  SetSlice(bottom, {"v", Shape{3, 2}, {1, 0}});
  const std::vector<SavedTensor> tensors = SavedTensorsOf(graph_);
  ASSERT_EQ(tensors.size(), 2);
  EXPECT_EQ(tensors[1].key, "v");
  EXPECT_EQ(tensors[1].shape_and_slice, "3 2 1,2:0,2");
  for (const bool sharded : {false, true}) {
    Saver saver(graph_, {.sharded = sharded});
    Session session(graph_);
    session.Run(GlobalVariablesInitializer());
    const std::string prefix = saver.Save(session, Path(sharded ? "sharded" : "whole"));
    EXPECT_TRUE(TensorBundleReader(prefix).Read("v").Identical(
        Tensor::Of<float>(Shape{3, 2}, {1, 2, 3, 4, 5, 6})));
    session.Run(bottom.Assign(Const(Tensor::Zeros(DType::kFloat, Shape{2, 2}))));
    saver.Restore(session, prefix);
    EXPECT_EQ(session.Run(bottom.Read()).data<float>()[3], 6);
  }
}

TEST_F(SaverTest, KeepsTheNewestCheckpoints) {
  const Variable w("w", Tensor(1.0f));
  double now = 1000;
  const SaverOptions options{
      .max_to_keep = 2, .keep_checkpoint_every_n_hours = 0.5, .now = [&] { return now; }};
  Saver saver(graph_, options);
  Session session(graph_);
  session.Run(GlobalVariablesInitializer());
  for (const int64_t step : {1, 2, 3, 4}) {
    now += 1500;
    saver.Save(session, Path("m"), step);
  }
  // Step 2 was the first after half an hour and stays for good.
  EXPECT_TRUE(files().Exists(Path("m-2.index")));
  EXPECT_FALSE(files().Exists(Path("m-1.index")));
  EXPECT_FALSE(files().Exists(Path("m-1.meta")));
  EXPECT_EQ(saver.last_checkpoints(), (std::vector<std::string>{Path("m-3"), Path("m-4")}));
  Saver next(saver.def(), options);
  next.Recover(directory_);
  EXPECT_EQ(next.last_checkpoints(), saver.last_checkpoints());
}

TEST_F(SaverTest, WritesTheGraphBesideIt) {
  const Variable w("w", Tensor(3.0f));
  Saver saver(graph_);
  {
    Session session(graph_);
    session.Run(GlobalVariablesInitializer());
    saver.Save(session, Path("m"));
  }
  proto::MetaGraphDef def;
  ASSERT_TRUE(def.ParseFromString(files().ReadFile(Path("m.meta"))));
  Graph imported;
  ImportMetaGraphDef(def, imported);
  Saver again(def.saver_def());
  Session session(imported);
  again.Restore(session, Path("m"));
  EXPECT_EQ(session.Run(imported.FindOutput("w/Read/ReadVariableOp:0")).scalar<float>(), 3);
}

TEST_F(SaverTest, SaysWhatIsMissing) {
  EXPECT_THROW(Saver saver(graph_), Error);  // no variables
  const Variable w("w", Tensor(3.0f));
  Saver saver(graph_);
  Session session(graph_);
  try {
    saver.Restore(session, Path("none"));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kNotFound);
    EXPECT_NE(e.message().find(Path("none")), std::string::npos);
  }
  EXPECT_THROW(saver.Save(session, Path("m")), Error);  // not initialised
  EXPECT_FALSE(files().Exists(Path("m.index")));
}

}  // namespace
}  // namespace sextant
