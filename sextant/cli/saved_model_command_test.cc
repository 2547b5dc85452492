#include "sextant/cli/saved_model_command.h"

#include <gtest/gtest.h>

#include <sstream>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/cli/saved_model_show.h"
#include "sextant/formats/npy.h"
#include "sextant/formats/saved_model_dir.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/binary.h"
#include "sextant/proto/saved_model.pb.h"
#include "sextant/runtime/session.h"
#include "sextant/train/saved_model_builder.h"

namespace sextant::cli {
namespace {

// x → double = x + x, of float [?,2].
class SavedModelCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    directory_ = JoinPath(testing::TempDir(), std::string("saved_model_test_") + test->name());
    FileSystem& files = FileSystem::ForPath(directory_);
    if (files.Exists(directory_)) files.DeleteRecursively(directory_);
    Graph graph;
    const GraphScope scope(graph);
    const Output x = Placeholder(DType::kFloat, {PartialShape::kUnknown, 2}, "x");
    const Output sum = x + x;
    Session session(graph);
    SavedModelBuilder builder(model());
    builder.AddMetaGraphAndVariables(
        session, {"serve"},
        {.signatures = {{"s", {.inputs = {{"x", x}}, .outputs = {{"double", sum}}}}}});
    builder.Save();
  }
  std::string model() const { return JoinPath(directory_, "model"); }

  std::string Run(const InputTexts& inputs, const std::string& output = "",
                  bool overwrite = false) const {
    std::ostringstream out;
    RunSavedModel({model(), "serve", "s", inputs, output, overwrite}, out);
    return out.str();
  }
  std::string MessageOf(const InputTexts& inputs) const {
    try {
      Run(inputs);
    } catch (const Error& e) {
      return e.message();
    }
    return "";
  }

  std::string directory_;
};

TEST_F(SavedModelCommandTest, Shows) {
  const proto::SavedModel proto = ReadSavedModel(model());
  EXPECT_EQ(TagSetsText(proto), "The given SavedModel contains the following tag-sets:\n'serve'\n");
  EXPECT_EQ(SignatureKeysText(proto.meta_graphs(0)),
            "The given SavedModel MetaGraphDef contains SignatureDefs with the following keys:\n"
            "SignatureDef key: \"s\"\n");
  EXPECT_EQ(ShowAllText(proto),
            "\nMetaGraphDef with tag-set: 'serve' contains the following SignatureDefs:\n"
            "\nsignature_def['s']:\n"
            "  The given SavedModel SignatureDef contains the following input(s):\n"
            "    inputs['x'] tensor_info:\n"
            "        dtype: DT_FLOAT\n"
            "        shape: (-1, 2)\n"
            "        name: x:0\n"
            "  The given SavedModel SignatureDef contains the following output(s):\n"
            "    outputs['double'] tensor_info:\n"
            "        dtype: DT_FLOAT\n"
            "        shape: (-1, 2)\n"
            "        name: AddV2:0\n"
            "  Method name is: tensorflow/serving/predict\n"
            "The MetaGraph with tag set ['serve'] contains the following ops: "
            "{'AddV2', 'Placeholder'}\n");
  EXPECT_THROW(SignatureText(proto.meta_graphs(0), "t"), Error);
}

TEST_F(SavedModelCommandTest, Scans) {
  const proto::SavedModel proto = ReadSavedModel(model());
  EXPECT_EQ(ScanText(proto.meta_graphs(0), "ReadFile,WriteFile"),
            "MetaGraph with tag set ['serve'] does not contain the default denylisted ops: "
            "{'ReadFile', 'WriteFile'}\n");
  EXPECT_EQ(ScanText(proto.meta_graphs(0), "AddV2"),
            "MetaGraph with tag set ['serve'] contains the following denylisted ops: {'AddV2'}\n");
}

TEST_F(SavedModelCommandTest, RunsAndPrintsAsNumPy) {
  EXPECT_EQ(Run({.expressions = "x=[[1, 2.5], [-3, 0]]"}),
            "Result for output key double:\n[[ 2.  5.]\n [-6.  0.]]\n");
}

TEST_F(SavedModelCommandTest, WritesOutputsToFiles) {
  const std::string folder = JoinPath(directory_, "out"), path = folder + "/double.npy";
  const InputTexts inputs{.expressions = "x=np.ones((1, 2))"};
  EXPECT_EQ(Run(inputs, folder),
            "Result for output key double:\n[[2. 2.]]\nOutput double is saved to " + path + "\n");
  EXPECT_TRUE(ReadNpy(path).Identical(Tensor::Of<float>(Shape{1, 2}, {2, 2})));
  EXPECT_THROW(Run(inputs, folder), Error);
  Run({.files = "x=" + path}, folder, /*overwrite=*/true);
  EXPECT_EQ(ReadNpy(path).data<float>()[0], 4);
}

TEST_F(SavedModelCommandTest, SaysWhatIsWrongWithInputs) {
  EXPECT_EQ(MessageOf({}), "give at least one of --inputs, --input_exprs and --input_examples");
  EXPECT_EQ(MessageOf({.expressions = "y=[[1, 2]]"}),
            "signature 's' has no input 'y'; it takes: x");
  EXPECT_EQ(MessageOf({.expressions = "x=['a']"}),
            "input 'x': string[1] cannot be taken for float");
  EXPECT_EQ(MessageOf({.expressions = "x=[[1]]"}),
            "input 'x' of signature 's' is float[?,2], but float[1,1] was given");
}

}  // namespace
}  // namespace sextant::cli
