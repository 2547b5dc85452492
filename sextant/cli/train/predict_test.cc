#include "sextant/cli/train/predict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sextant/base/file_system.h"
#include "sextant/cli/train/census_run.h"
#include "sextant/cli/train/prediction_writer.h"
#include "sextant/formats/example_builder.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/proto/saved_model.pb.h"
#include "sextant/tensor/tensor_proto.h"

namespace sextant::cli {
namespace {

using Json = nlohmann::json;

constexpr char kPerson[] =
    R"({"age": 25, "workclass": " Private", "education": " 11th", "education_num": 7, )"
    R"("marital_status": " Never-married", "occupation": " Machine-op-inspct", )"
    R"("relationship": " Own-child", "race": " Black", "gender": " Male", "capital_gain": 0, )"
    R"("capital_loss": 0, "hours_per_week": 40, "native_country": " United-States"})";
constexpr char kRow[] =
    "25, Private, 226802, 11th, 7, Never-married, Machine-op-inspct, Own-child, Black, Male, 0, 0, "
    "40, United-States";

std::string ExampleOf(const Json& person) {
  ExampleBuilder builder;
  for (const auto& [key, value] : person.items()) {
    if (value.is_string()) {
      builder.Bytes(key, value.get<std::string>());
    } else {
      builder.Float(key, value.get<float>());
    }
  }
  return builder.Serialize();
}

class PredictTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    run_ = new CensusRun("PredictTest");
    run_->Train();
  }
  static void TearDownTestSuite() {
    delete run_;
    run_ = nullptr;
  }

  static std::string Run(PredictFlags flags) {
    if (flags.model.empty()) flags.model = run_->model_dir();
    std::ostringstream out;
    Predict(flags, out);
    return out.str();
  }
  static std::string ErrorOf(const PredictFlags& flags) {
    return MessageOf([&] { Run(flags); });
  }
  static void ExpectHas(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  static bool Exists(const std::string& path) { return FileSystem::ForPath(path).Exists(path); }

  static CensusRun* run_;
};
CensusRun* PredictTest::run_ = nullptr;

// The columns of kRow without the one that no model takes.
constexpr char kHeader[] =
    "age,workclass,fnlwgt,education,education_num,marital_status,occupation,relationship,race,"
    "gender,capital_gain,capital_loss,hours_per_week,native_country";

TEST_F(PredictTest, TakesDefaultsForEmptyFields) {
  std::string row = kRow;
  row.erase(0, 2);  // no age
  const std::string csv = run_->Write("empty.csv", kHeader + ("\n" + row) + "\n");
  const std::string full = run_->Write("full.csv", std::string("30") + row + "\n");
  // The model_dir's own defaults (0), and those of the flag.
  const std::string own = Run({.files = {csv}, .output = "json", .header = true});
  const std::string zero = run_->Write("zero.csv", "0" + row + "\n");
  EXPECT_EQ(own, Run({.files = {zero}, .output = "json"}));
  EXPECT_EQ(Run({.files = {csv}, .output = "json", .defaults = {"age=30"}, .header = true}),
            Run({.files = {full}, .output = "json"}));
  ExpectHas(ErrorOf({.files = {full}, .defaults = {"age=30"}}), "add --header or --columns");
  ExpectHas(ErrorOf({.files = {csv}, .defaults = {"aeg=30"}, .header = true}), "did you mean age?");
  ExpectHas(ErrorOf({.files = {csv}, .defaults = {"age"}, .header = true}), "COLUMN=VALUE");
}

TEST_F(PredictTest, TakesDefaultsForColumnsByName) {
  const std::string exported = run_->Export("json");
  std::string row = kRow;
  row.erase(0, 2);
  const std::string csv = run_->Write("empty_named.csv", kHeader + ("\n" + row) + "\n");
  ExpectHas(ErrorOf({.model = exported, .files = {csv}, .format = "csv", .header = true}),
            "column 'age' is empty and has no default; give one with --default age=VALUE");
  Json person = Json::parse(kPerson);
  const std::string json = run_->Write("whole.json", person.dump());
  EXPECT_EQ(Run({.model = exported,
                 .files = {csv},
                 .format = "csv",
                 .output = "json",
                 .defaults = {"age=25"},
                 .header = true}),
            Run({.model = exported, .files = {json}, .output = "json"}));
  person.erase("age");
  const std::string without = run_->Write("without.json", person.dump());
  EXPECT_EQ(Run({.model = exported, .files = {without}, .output = "json", .defaults = {"age=25"}}),
            Run({.model = exported, .files = {json}, .output = "json"}));
  ExpectHas(ErrorOf({.model = exported, .files = {json}, .defaults = {"age=old"}}), "is no float");
}

// SignatureDef.defaults, as TensorFlow 2.13 and later writes them.
TEST_F(PredictTest, TakesTheDefaultsOfTheExport) {
  const std::string exported = run_->Export("json");
  const std::string path = JoinPath(exported, "saved_model.pb");
  FileSystem& files = FileSystem::ForPath(path);
  proto::SavedModel model;
  ASSERT_TRUE(model.ParseFromString(files.ReadFile(path)));
  for (auto& [name, signature] : *model.mutable_meta_graphs(0)->mutable_signature_def()) {
    TensorToProto(Tensor::Of<float>({25}), &(*signature.mutable_defaults())["age"]);
  }
  files.WriteFileAtomically(path, model.SerializeAsString());
  Json person = Json::parse(kPerson);
  const std::string whole = run_->Write("whole_own.json", person.dump());
  const std::string expected = Run({.model = exported, .files = {whole}, .output = "json"});
  person.erase("age");
  const std::string without = run_->Write("without_own.json", person.dump());
  EXPECT_EQ(Run({.model = exported, .files = {without}, .output = "json"}), expected);
  std::string row = kRow;
  row.erase(0, 2);
  const std::string csv = run_->Write("empty_own.csv", kHeader + ("\n" + row) + "\n");
  EXPECT_EQ(
      Run({.model = exported, .files = {csv}, .format = "csv", .output = "json", .header = true}),
      expected);
}

TEST_F(PredictTest, SkipsAByteOrderMark) {
  const std::string plain = run_->Write("plain.csv", std::string(kRow) + "\n");
  const std::string marked = run_->Write("marked.csv", "\xef\xbb\xbf" + std::string(kRow) + "\n");
  EXPECT_EQ(Run({.files = {marked}, .output = "json"}), Run({.files = {plain}, .output = "json"}));
  const std::string named =
      run_->Write("marked_header.csv", "\xef\xbb\xbf" + std::string(kHeader) + "\n" + kRow + "\n");
  EXPECT_EQ(Run({.model = run_->Export("json"),
                 .files = {named},
                 .format = "csv",
                 .output = "json",
                 .header = true}),
            Run({.files = {plain}, .output = "json"}));
}

TEST_F(PredictTest, NamesTheFlagThatNamesTheModel) {
  const std::string users = run_->directory() + "/users";
  FileSystem& files = FileSystem::ForPath(users);
  files.CreateDirectories(users);
  for (const std::string& name : files.ListDirectory(run_->model_dir())) {
    const std::string path = run_->model_dir() + "/" + name;
    if (files.Stat(path).is_directory || name == "sextant_model.json") continue;
    files.WriteFileAtomically(users + "/" + name, files.ReadFile(path));
  }
  const std::string plain = run_->Write("plain.csv", std::string(kRow) + "\n");
  ExpectHas(ErrorOf({.model = users, .files = {plain}}), "name it with --model_name");
  EXPECT_NE(Run({.model = users, .files = {plain}, .model_name = "wide_deep"}), "");
}

TEST_F(PredictTest, GivesTheSameForEveryFormat) {
  const std::string person = std::string(kPerson) + "\n";
  const std::string lines = run_->Write("person.json", person + person);
  const std::string csv = run_->Write("person.csv", std::string(kRow) + "\n" + kRow + "\n");
  const std::string records = run_->directory() + "/person.tfrecords";
  TFRecordWriter writer(records);
  for (int i = 0; i < 2; ++i) writer.Write(ExampleOf(Json::parse(kPerson)));
  writer.Close();

  const std::string answer = Run({.files = {lines}, .output = "json", .keys = {"logits"}});
  EXPECT_EQ(Run({.files = {csv}, .output = "json", .keys = {"logits"}}), answer);
  EXPECT_EQ(Run({.files = {records}, .output = "json", .keys = {"logits"}}), answer);
  // Exported by the training, for JSON; asked by columns of CSV too.
  const std::string exported = run_->model_dir() + "/export/census";
  EXPECT_EQ(Run({.model = exported, .files = {lines}, .output = "json", .keys = {"logits"}}),
            answer);
  EXPECT_EQ(Run({.model = exported,
                 .files = {csv},
                 .output = "json",
                 .keys = {"logits"},
                 .columns = {"age", "workclass", "fnlwgt", "education", "education_num",
                             "marital_status", "occupation", "relationship", "race", "gender",
                             "capital_gain", "capital_loss", "hours_per_week", "native_country"}}),
            answer);
}

TEST_F(PredictTest, PrintsATable) {
  const std::string lines = run_->Write("person.json", std::string(kPerson) + "\n");
  const std::string table = Run({.files = {lines}});
  ExpectHas(table, "CLASS_IDS  CLASSES  LOGISTIC");
  ExpectHas(table, "[0]        [\"0\"]    [");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 2) << table;
}

TEST_F(PredictTest, GoesOnWithFilesThatAreMissing) {
  std::vector<std::string> files;
  for (const char* name : {"a.csv", "b.csv", "c.csv"}) {
    files.push_back(run_->Write(name, std::string(kRow) + "\n"));
  }
  const std::string out = run_->directory() + "/predictions";
  // The second file is damaged: the first one's predictions stay, of the second nothing is left.
  run_->Write("b.csv", std::string(kRow) + "\n1,2\n");
  ExpectHas(ErrorOf({.files = files, .output = "csv", .out = out}), "b.csv");
  EXPECT_TRUE(Exists(out + "/a.csv.predictions.csv"));
  EXPECT_EQ(FileSystem::ForPath(out).ListDirectory(out).size(), 1u);
  run_->Write("b.csv", std::string(kRow) + "\n");
  EXPECT_EQ(Run({.files = files, .output = "csv", .out = out}),
            "Predicted 2 instances of 2 files to " + out + "; 1 were finished before.\n");
  EXPECT_EQ(FileSystem::ForPath(out).ReadFile(out + "/a.csv.predictions.csv"),
            FileSystem::ForPath(out).ReadFile(out + "/c.csv.predictions.csv"));
}

TEST_F(PredictTest, TakesRowsWithLabels) {
  const std::string test = run_->data() + "/adult.test.csv";
  const std::string csv = Run({.files = {test},
                               .output = "csv",
                               .keys = {"class_ids", "probabilities"},
                               .batch = 32,
                               .with_label = true});
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 101) << csv;
  EXPECT_TRUE(csv.starts_with("class_ids,probabilities\n")) << csv;
}

TEST_F(PredictTest, SaysWhatIsWrong) {
  const std::string csv = run_->Write("person.csv", std::string(kRow) + "\n");
  const std::string exported = run_->model_dir() + "/export/census";
  ExpectHas(ErrorOf({.model = run_->directory() + "/nothing", .files = {csv}}),
            "give a SavedModel or a model_dir");
  ExpectHas(ErrorOf({.model = run_->data(), .files = {csv}}),
            "holds neither a SavedModel nor a checkpoint");
  ExpectHas(ErrorOf({.files = {run_->directory() + "/absent.csv"}}), "absent.csv");
  ExpectHas(ErrorOf({.files = {run_->Write("person.txt", "x")}}), "say --format csv");
  ExpectHas(ErrorOf({.files = {run_->Write("empty.csv", "")}}), "holds no instances");
  ExpectHas(ErrorOf({.files = {csv}, .format = "xml"}), "must be csv, json or example");
  ExpectHas(ErrorOf({.files = {csv}, .output = "xml"}), "must be table, json or csv");
  ExpectHas(ErrorOf({.files = {csv}, .keys = {"love"}}),
            "the model predicts no 'love'; there are all_class_ids");
  const std::string misspelt = ErrorOf({.files = {csv}, .keys = {"probabilitys"}});
  EXPECT_EQ(misspelt.find("label"), std::string::npos) << misspelt;
  ExpectHas(ErrorOf({.files = {csv}, .signature = "love"}), "love");
  ExpectHas(ErrorOf({.files = {csv, csv}, .out = run_->directory() + "/twice"}),
            "two files are called person.csv");
  ExpectHas(ErrorOf({.model = exported, .files = {csv}}), "add --header or --columns");
  ExpectHas(ErrorOf({.model = exported, .files = {csv}, .header = true}), "has no column 'age'");
  const std::string labelled = ErrorOf({.files = {run_->data() + "/adult.test.csv"}});
  ExpectHas(labelled, "adult.test.csv, instances 1 to");
  ExpectHas(labelled, "if the rows end with labels, predict from the model_dir, with --with_label");
  ExpectHas(ErrorOf({.files = {run_->Write("a.json", "{\"age\": 1}\n")}}),
            "a.json, line 1: byte 9: there is no value for input 'capital_gain'; give one with "
            "--default capital_gain=VALUE");
  ExpectHas(ErrorOf({.files = {run_->Write("b.json", "{\"age\": \n")}}),
            "b.json, line 1: byte 8: no JSON");
  ExpectHas(ErrorOf({.files = {run_->Write("list.json", "[1]\n")}}),
            "a value by their names is needed: age, ");
  Json person = Json::parse(kPerson);
  person["age"] = "old";
  const std::string old =
      ErrorOf({.files = {run_->Write("c.json", kPerson + ("\n" + person.dump()) + "\n")}});
  ExpectHas(old, "c.json, line 2: byte ");
  ExpectHas(old, "input 'age': the text \"old\" is no float");
  person["age"] = {1, 2};
  ExpectHas(ErrorOf({.files = {run_->Write("d.json", person.dump())}}),
            "input 'age' of signature 'predict' is float[?], but float[1,2] was given");
}

TEST(PredictionWriterTest, WritesNestedListsAndQuotes) {
  std::string text;
  const auto sink = [&](std::string_view part) { text += part; };
  const NamedTensors outputs = {{"matrix", Tensor::Of<int64_t>({2, 2, 1}, {1, 2, 3, 4})},
                                {"score", Tensor::Of<float>({2, 1}, {0.25f, 0.1f})},
                                {"word", Tensor::Of<std::string>({2}, {"a", "b,\"c\""})},
                                {"scalar", Tensor(1.0f)}};
  PredictionWriter(PredictionFormat::kJson, {}, sink).Write(outputs, 2);
  EXPECT_EQ(text,
            "{\"matrix\": [[1], [2]], \"score\": [0.25], \"word\": \"a\"}\n"
            "{\"matrix\": [[3], [4]], \"score\": [0.1], \"word\": \"b,\\\"c\\\"\"}\n");
  // What is no UTF-8, and outputs that are bytes by their names, as a server writes them.
  text.clear();
  PredictionWriter(PredictionFormat::kJson, {}, sink)
      .Write({{"a_bytes", Tensor::Of<std::string>({1}, {"a"})},
              {"n", Tensor::Of<double>({1}, {NAN})},
              {"s", Tensor::Of<std::string>({1}, {"\xff"})},
              {"u", Tensor::Of<uint8_t>({1}, {7})}},
             1);
  EXPECT_EQ(text,
            "{\"a_bytes\": {\"b64\": \"YQ==\"}, \"n\": \"NaN\", \"s\": {\"b64\": \"/w==\"}, "
            "\"u\": 7}\n");
  text.clear();
  PredictionWriter(PredictionFormat::kCsv, {"word", "score", "matrix"}, sink).Write(outputs, 2);
  EXPECT_EQ(text, "word,score,matrix\na,0.25,\"[[1], [2]]\"\n\"b,\"\"c\"\"\",0.1,\"[[3], [4]]\"\n");
  text.clear();
  PredictionWriter(PredictionFormat::kTable, {"score"}, sink).Write(outputs, 2);
  EXPECT_EQ(text, "SCORE\n[0.25]\n[0.10000000149011612]\n");
}

}  // namespace
}  // namespace sextant::cli
