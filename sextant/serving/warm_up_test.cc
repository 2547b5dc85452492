#include "sextant/serving/warm_up.h"

#include <gtest/gtest.h>

#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/estimator/exporter.h"
#include "sextant/estimator/ledger.h"
#include "sextant/formats/example.h"
#include "sextant/formats/saved_model_dir.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/nn/losses.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/identity.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/state/variable.h"
#include "sextant/proto/serving.pb.h"
#include "sextant/serving/servable.h"
#include "sextant/tensor/tensor_proto.h"
#include "sextant/train/global_step.h"
#include "sextant/train/optimizers.h"

namespace sextant::serving {
namespace {

EstimatorSpec WordAndNumber(const ModelFnArgs& args) {
  const Variable w = GetVariable("w", [] { return Const(Tensor(2.0f)); });
  const Output y = w * args.features["x"];
  EstimatorSpec spec{.mode = args.mode,
                     .predictions = {{"y", y}, {"word", Identity(args.features["s"])}}};
  if (args.mode == Mode::kPredict) return spec;
  spec.loss = losses::MeanSquaredError(args.labels.only(), y);
  spec.train_op = train::GradientDescent({.learning_rate = 0.25})
                      .Minimize(spec.loss, {.global_step = train::GetOrCreateGlobalStep()});
  return spec;
}

Input Rows() {
  return data::FromTensorSlices(
             {{"x", Tensor::Of<float>({5, 1}, {1, 0.1f, 3, 4, 5})},
              {"s", Tensor::Of<std::string>({5, 1}, {"a", "b,\"c", "", "d", "e"})},
              {"label", Tensor::Of<float>({5, 1}, {1, 2, 3, 4, 5})}})
      .Batch(2);
}

// Exports with three rows of the evaluation as warm-up requests.
class ExportedWarmUpTest : public testing::Test {
 protected:
  ExportedWarmUpTest() {
    estimator_.Train([] { return Rows(); }, {.steps = 1});
  }

  std::string Export(const ServingInputFn& receiver, const InputFn& eval_input = Rows) {
    const auto exporter = LatestExporter("m", receiver, {.warmup_requests = 3});
    Ledger ledger(estimator_.model_dir());
    return exporter->Export({estimator_,
                             JoinPath(estimator_.model_dir(), "export/m"),
                             *estimator_.LatestCheckpoint(),
                             {},
                             ++step_,
                             false,
                             ledger,
                             &eval_input});
  }
  static std::vector<proto::PredictRequest> Requests(const std::string& path) {
    std::vector<proto::PredictRequest> requests;
    TFRecordReader reader(SavedExtraAssetPath(path, "tf_serving_warmup_requests"));
    for (std::string record; reader.Next(&record);) {
      proto::PredictionLog log;
      EXPECT_TRUE(log.ParseFromString(record));
      EXPECT_EQ(log.log_type_case(), proto::PredictionLog::kPredictLog);
      requests.push_back(log.predict_log().request());
      EXPECT_EQ(requests.back().model_spec().name(), "m");
      EXPECT_EQ(requests.back().model_spec().signature_name(), "serving_default");
    }
    return requests;
  }
  static void ExpectReplayed(const std::string& path) {
    EXPECT_NE(Servable::Load("m", 1, path, {})->warm_up().find("3 recorded requests"),
              std::string::npos)
        << Servable::Load("m", 1, path, {})->warm_up();
  }
  static Tensor InputOf(const proto::PredictRequest& request, const std::string& name) {
    return TensorFromProto(request.inputs().at(name));
  }

  const TemporaryDirectory directory_;
  Estimator estimator_{WordAndNumber,
                       {.model_dir = JoinPath(directory_.path(), "run"), .tf_config = "{}"}};
  int64_t step_ = 0;
};

const std::vector<data::CsvColumn> kColumns = {{"s", DType::kString, Tensor(std::string())},
                                               {"x", DType::kFloat}};

TEST_F(ExportedWarmUpTest, HasRowsAsInputsByName) {
  const std::string raw = Export(RawReceiver(
      {{"x", DType::kFloat, PartialShape({-1, 1})}, {"s", DType::kString, PartialShape({-1, 1})}}));
  ASSERT_EQ(Requests(raw).size(), 3u);
  EXPECT_TRUE(InputOf(Requests(raw)[1], "x").Identical(Tensor::Of<float>({1, 1}, {0.1f})));
  ExpectReplayed(raw);
  const std::string by_column = Export(JsonReceiver(kColumns));
  ASSERT_EQ(Requests(by_column).size(), 3u);
  EXPECT_TRUE(InputOf(Requests(by_column)[1], "s").Identical(Tensor::Of<std::string>({"b,\"c"})));
  ExpectReplayed(by_column);
}

// Numbers that are whole in the data are reals for an export that takes reals.
TEST_F(ExportedWarmUpTest, HasIntegersAsReals) {
  const std::string path = Export(JsonReceiver(kColumns), [] {
    return Input(data::FromTensorSlices({{"x", Tensor::Of<int32_t>({3, 1}, {1, 39, -3})},
                                         {"s", Tensor::Of<std::string>({3, 1}, {"a", "b", "c"})}})
                     .Batch(2));
  });
  ASSERT_EQ(Requests(path).size(), 3u);
  EXPECT_TRUE(InputOf(Requests(path)[1], "x").Identical(Tensor::Of<float>({39})));
  ExpectReplayed(path);
}

TEST_F(ExportedWarmUpTest, HasRowsAsLinesAndExamples) {
  const std::string csv = Export(CsvReceiver(kColumns));
  ASSERT_EQ(Requests(csv).size(), 3u);
  EXPECT_TRUE(
      InputOf(Requests(csv)[1], "csv_row").Identical(Tensor::Of<std::string>({"\"b,\"\"c\",0.1"})));
  ExpectReplayed(csv);
  // The third row's text is empty, which a column without a default must not be.
  const std::string required = SavedExtraAssetPath(
      Export(CsvReceiver({{"s"}, {"x", DType::kFloat}})), "tf_serving_warmup_requests");
  EXPECT_FALSE(FileSystem::ForPath(required).Exists(required));
  const std::string examples =
      Export(ParsingReceiver({{.key = "x", .dtype = DType::kFloat, .shape = {1}},
                              {.key = "s", .dtype = DType::kString, .shape = {1}}}));
  ASSERT_EQ(Requests(examples).size(), 3u);
  const proto::Example example =
      ParseExample(InputOf(Requests(examples)[1], "examples").flat<std::string>()[0]);
  EXPECT_EQ(GetOneBytes(example, "s"), "b,\"c");
  EXPECT_EQ(example.features().feature().at("x").float_list().value(0), 0.1f);
  ExpectReplayed(examples);
}

// The input has no such feature: the export is made all the same.
TEST_F(ExportedWarmUpTest, IsLeftOutWhereRowsGiveNoRequests) {
  const InputFn other = [] {
    return Input(data::FromTensorSlices({{"z", Tensor::Of<float>({2}, {1, 2})}}).Batch(2));
  };
  const std::string path = Export(JsonReceiver(kColumns), other);
  const std::string file = SavedExtraAssetPath(path, "tf_serving_warmup_requests");
  EXPECT_FALSE(FileSystem::ForPath(file).Exists(file));
  EXPECT_NE(Servable::Load("m", 1, path, {}), nullptr);
}

}  // namespace
}  // namespace sextant::serving
