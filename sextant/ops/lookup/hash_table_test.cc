#include "sextant/ops/lookup/hash_table.h"

#include <gtest/gtest.h>

#include <functional>

#include "sextant/base/file_system.h"
#include "sextant/graph/graph_def.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/lookup/lookup_table.h"
#include "sextant/ops/lookup/mutable_hash_table.h"
#include "sextant/ops/lookup/vocabulary_file.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

Tensor Strings(std::initializer_list<std::string> values) { return Tensor::Of(values); }
Tensor Ints(std::initializer_list<int64_t> values) { return Tensor::Of(values); }

class LookupTest : public testing::Test {
 protected:
  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(LookupTest, FindsWhatItWasInitialisedWith) {
  const Output table = HashTable(DType::kString, DType::kInt64);
  const Operation init = InitializeTable(table, Const(Strings({"a", "b"})), Const(Ints({1, 2})));
  const Output keys = Const(Tensor::Of<std::string>({2, 2}, {"a", "z", "b", "q"}));
  const Output found = LookupTableFind(table, keys, Const(Tensor(int64_t{-1})));
  EXPECT_EQ(found.shape(), (PartialShape{2, 2}));
  const Output one_each =
      LookupTableFind(table, keys, Const(Tensor::Of<int64_t>({2, 2}, {5, 6, 7, 8})));
  const Output size = LookupTableSize(table);
  Session session(graph_);
  EXPECT_EQ(session.Run(size).AsInt64(), 0);
  EXPECT_EQ(StatusOf([&] { session.Run(found); }).code(), Code::kFailedPrecondition);
  session.Run(init);
  EXPECT_TRUE(session.Run(found).Identical(Tensor::Of<int64_t>({2, 2}, {1, -1, 2, -1})));
  EXPECT_TRUE(session.Run(one_each).Identical(Tensor::Of<int64_t>({2, 2}, {1, 6, 2, 8})));
  EXPECT_EQ(session.Run(size).AsInt64(), 2);
  session.Run(init);
}

TEST_F(LookupTest, InitialisesOnce) {
  const auto table = MakeHashTable(DType::kString, DType::kInt64);
  table->Initialize(Strings({"a", "b", "a"}), Ints({1, 2, 1}));
  EXPECT_EQ(table->size(), 2);
  table->Initialize(Strings({"b", "a"}), Ints({2, 1}));
  for (const auto& other :
       {std::pair(Strings({"a"}), Ints({1})), std::pair(Strings({"a", "c"}), Ints({1, 2})),
        std::pair(Strings({"d", "d"}), Ints({1, 2}))}) {
    EXPECT_EQ(StatusOf([&] { table->Initialize(other.first, other.second); }).code(),
              Code::kFailedPrecondition);
  }
  EXPECT_EQ(StatusOf([&] {
              table->Initialize(Strings({"a"}), Ints({1, 2}));
            }).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { table->Initialize(Strings({}), Ints({})); }).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { table->Initialize(Ints({1}), Ints({1})); }).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { table->Insert(Strings({"e"}), Ints({1})); }).code(),
            Code::kUnimplemented);
  EXPECT_EQ(StatusOf([&] { table->Remove(Strings({"e"})); }).code(), Code::kUnimplemented);
}

TEST_F(LookupTest, ChangesAndExports) {
  const auto table = MakeMutableHashTable(DType::kString, DType::kInt64, Shape());
  table->Insert(Strings({"a", "b", "a", "c"}), Ints({1, 2, 3, 4}));
  EXPECT_EQ(table->size(), 3);
  table->Remove(Strings({"a", "zz"}));
  auto [keys, values] = table->Export();
  EXPECT_TRUE(keys.Identical(Strings({"c", "b"})));
  EXPECT_TRUE(values.Identical(Ints({4, 2})));
  table->Import(Strings({"x", "x"}), Ints({7, 8}));
  EXPECT_EQ(table->size(), 1);
  Tensor found(DType::kInt64, {2});
  table->Find(Strings({"x", "b"}), Tensor(int64_t{-1}), found);
  EXPECT_TRUE(found.Identical(Ints({8, -1})));
  EXPECT_EQ(StatusOf([&, &k = keys, &v = values] { table->Initialize(k, v); }).code(),
            Code::kInvalidArgument);
}

TEST_F(LookupTest, KeepsVectors) {
  const Output table = MutableHashTableOfTensors(DType::kInt64, DType::kFloat, {2});
  const Operation insert =
      LookupTableInsert(table, Const(Ints({5, 6})), Const(Tensor::Of<float>({2, 2}, {1, 2, 3, 4})));
  const Output found = LookupTableFind(table, Const(Tensor::Of<int64_t>({1, 2}, {6, 7})),
                                       Const(Tensor::Of<float>({-1, -2})));
  EXPECT_EQ(found.shape(), (PartialShape{1, 2, 2}));
  Session session(graph_);
  session.Run(insert);
  EXPECT_TRUE(session.Run(found).Identical(Tensor::Of<float>({1, 2, 2}, {3, 4, -1, -2})));
}

// The positions are those of TensorFlow.
TEST_F(LookupTest, DenseTablesExportTheirBuckets) {
  const auto table = MakeDenseHashTable(Tensor(int64_t{0}), Tensor(int64_t{-1}),
                                        {.value_dtype = DType::kInt64, .initial_num_buckets = 4});
  table->Insert(Ints({5, 9, 13}), Ints({1, 2, 3}));
  EXPECT_TRUE(table->Export().first.Identical(Tensor::Of<int64_t>({4, 1}, {13, 5, 9, 0})));
  table->Insert(Ints({6}), Ints({4}));
  table->Remove(Ints({5, 77}));
  EXPECT_EQ(table->size(), 3);
  const auto [keys, values] = table->Export();
  EXPECT_TRUE(keys.Identical(Tensor::Of<int64_t>({8, 1}, {0, 9, 0, 0, 0, 13, -1, 6})));
  EXPECT_TRUE(values.Identical(Tensor::Of<int64_t>({8, 1}, {0, 2, 0, 0, 0, 3, 1, 4})));
  EXPECT_EQ(StatusOf([&] { table->Remove(Ints({0})); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { table->Insert(Ints({-1}), Ints({0})); }).code(), Code::kInvalidArgument);

  const auto strings = MakeDenseHashTable(Tensor("e"), Tensor("d"),
                                          {.value_dtype = DType::kInt64, .initial_num_buckets = 8});
  strings->Insert(Strings({"a", "b", "hello world foo"}), Ints({1, 2, 3}));
  EXPECT_TRUE(strings->Export().first.Identical(
      Tensor::Of<std::string>({8, 1}, {"e", "e", "b", "hello world foo", "a", "e", "e", "e"})));

  const auto vectors = MakeDenseHashTable(
      Ints({0, 0}), Ints({-1, -1}),
      {.value_dtype = DType::kInt64, .value_shape = {2}, .initial_num_buckets = 4});
  vectors->Insert(Tensor::Of<int64_t>({2, 2}, {5, 9, 1, 2}),
                  Tensor::Of<int64_t>({2, 2}, {1, 2, 3, 4}));
  EXPECT_TRUE(
      vectors->Export().first.Identical(Tensor::Of<int64_t>({4, 2}, {5, 9, 0, 0, 0, 0, 1, 2})));
}

TEST_F(LookupTest, DenseTablesImportBuckets) {
  const auto table = MakeDenseHashTable(Tensor(int64_t{0}), Tensor(int64_t{-1}),
                                        {.value_dtype = DType::kInt64, .initial_num_buckets = 4});
  table->Import(Tensor::Of<int64_t>({4, 1}, {0, 1, -1, 7}),
                Tensor::Of<int64_t>({4, 1}, {0, 10, 0, 70}));
  EXPECT_EQ(table->size(), 2);
  Tensor found(DType::kInt64, {2});
  table->Find(Ints({7, 2}), Tensor(int64_t{5}), found);
  EXPECT_TRUE(found.Identical(Ints({70, 5})));
  EXPECT_EQ(StatusOf([&] {
              table->Import(Ints({1, 2, 3}), Ints({1, 2, 3}));
            }).code(),
            Code::kInvalidArgument);
}

class VocabularyFileTest : public testing::Test {
 protected:
  void Write(std::string_view text) { FileSystem::ForPath(path_).WriteFileAtomically(path_, text); }
  std::pair<Tensor, Tensor> Read(DType key, DType value, const VocabularyFileOptions& options) {
    return ReadVocabularyFile(path_, key, value, options);
  }
  Code CodeOfRead(DType key, DType value, const VocabularyFileOptions& options) {
    return StatusOf([&] { Read(key, value, options); }).code();
  }
  ~VocabularyFileTest() override { FileSystem::ForPath(path_).DeleteRecursively(path_); }

  const std::string path_ = testing::TempDir() + "/" +
                            testing::UnitTest::GetInstance()->current_test_info()->name() + ".txt";
};

TEST_F(VocabularyFileTest, TakesLinesNumbersAndColumns) {
  Write("one\ttwo\tthree\nfour\tfive\tsix\n");
  EXPECT_TRUE(Read(DType::kString, DType::kInt64, {})
                  .first.Identical(Strings({"one\ttwo\tthree", "four\tfive\tsix"})));
  EXPECT_TRUE(Read(DType::kString, DType::kInt64, {.offset = 5}).second.Identical(Ints({5, 6})));
  const auto columns = Read(DType::kString, DType::kString, {.key_index = 0, .value_index = 2});
  EXPECT_TRUE(columns.first.Identical(Strings({"one", "four"})));
  EXPECT_TRUE(columns.second.Identical(Strings({"three", "six"})));
  EXPECT_EQ(Read(DType::kString, DType::kInt64, {.vocab_size = 1}).first.num_elements(), 1);
  EXPECT_EQ(CodeOfRead(DType::kString, DType::kInt64, {.vocab_size = 3}), Code::kInvalidArgument);
  EXPECT_EQ(CodeOfRead(DType::kString, DType::kInt64, {.vocab_size = 0}), Code::kOutOfRange);
  EXPECT_EQ(CodeOfRead(DType::kString, DType::kString, {.value_index = 3}), Code::kInvalidArgument);
  EXPECT_EQ(CodeOfRead(DType::kString, DType::kInt32, {}), Code::kInvalidArgument);
}

TEST_F(VocabularyFileTest, ReadsNumbers) {
  Write("1 10\r\n-2 2.5\r\n3 x");
  VocabularyFileOptions options{
      .key_index = 0, .value_index = 1, .vocab_size = 2, .delimiter = ' '};
  const auto numbers = Read(DType::kInt32, DType::kFloat, options);
  EXPECT_TRUE(numbers.first.Identical(Tensor::Of<int32_t>({1, -2})));
  EXPECT_TRUE(numbers.second.Identical(Tensor::Of<float>({10, 2.5f})));
  options.vocab_size = -1;
  EXPECT_EQ(CodeOfRead(DType::kInt64, DType::kInt64, options), Code::kInvalidArgument);
}

TEST_F(VocabularyFileTest, RejectsEmptyLinesAndFiles) {
  Write("a\n\nb\n");
  EXPECT_EQ(CodeOfRead(DType::kString, DType::kInt64, {}), Code::kInvalidArgument);
  Write("");
  EXPECT_EQ(CodeOfRead(DType::kString, DType::kInt64, {}), Code::kOutOfRange);
}

TEST_F(LookupTest, SharesTablesByName) {
  const auto named = [](const char* node, bool sharing) {
    return OpBuilder("MutableHashTableV2")
        .Attr("key_dtype", DType::kInt64)
        .Attr("value_dtype", DType::kInt64)
        .Attr("use_node_name_sharing", sharing)
        .Name(node)
        .Build();
  };
  const Output by_node = named("shared", true);
  const Output by_name =
      MutableHashTable(DType::kInt64, DType::kInt64, {.name = "other", .shared_name = "shared"});
  const Output alone = named("alone", false);
  const Operation insert = LookupTableInsert(by_node, Const(Ints({1})), Const(Ints({2})));
  const Output size = LookupTableSize(by_name), other_size = LookupTableSize(alone);
  const Output wrong =
      LookupTableSize(MutableHashTable(DType::kString, DType::kInt64, {.shared_name = "shared"}));
  Session session(graph_);
  session.Run(insert);
  EXPECT_EQ(session.Run(size).AsInt64(), 1);
  EXPECT_EQ(session.Run(other_size).AsInt64(), 0);
  EXPECT_EQ(StatusOf([&] { session.Run(wrong); }).code(), Code::kInvalidArgument);
}

TEST_F(LookupTest, HandlesMayBeReferences) {
  const Output table = OpBuilder("HashTable")
                           .Attr("key_dtype", DType::kString)
                           .Attr("value_dtype", DType::kInt64)
                           .Build();
  const Operation init = OpBuilder("InitializeTable")
                             .Input(table)
                             .Input(Const(Strings({"a"})))
                             .Input(Const(Ints({4})))
                             .BuildOperation();
  const Output found = OpBuilder("LookupTableFind")
                           .Input(table)
                           .Input(Const(Strings({"b", "a"})))
                           .Input(Const(Tensor(int64_t{0})))
                           .Build();
  Session session(graph_);
  session.Run(init);
  EXPECT_TRUE(session.Run(found).Identical(Ints({0, 4})));
}

}  // namespace
}  // namespace sextant
