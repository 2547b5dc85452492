#include "sextant/ops/checkpoint/save_restore.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/files/file.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

class SaveRestoreTest : public testing::Test {
 protected:
  static Output Text(const std::string& text) { return Const(Tensor(text)); }
  static Output Texts(const std::vector<std::string>& texts) {
    return Const(Tensor::FromVector(texts));
  }
  Tensor Restored(const std::string& name, DType dtype, const std::string& spec = "",
                  const std::string& prefix = "") {
    return session_.Run(RestoreV2(Text(prefix.empty() ? prefix_ : prefix), Texts({name}),
                                  Texts({spec}), {dtype})[0]);
  }
  void SetUp() override { FileSystem::ForPath(folder_).CreateDirectories(folder_); }

  const std::string folder_ = fmt::format(
      "memory://save_restore/{}", testing::UnitTest::GetInstance()->current_test_info()->name());
  const std::string prefix_ = folder_ + "/model.ckpt-3";
  Graph graph_;
  GraphScope scope_{graph_};
  Session session_{graph_};
};

TEST_F(SaveRestoreTest, RestoresWhatItSaved) {
  const Tensor a = Tensor::Of<float>({2, 2}, {1, 2, 3, 4}),
               b = Tensor::Of<std::string>({"x", "yy"});
  session_.Run(SaveV2(Text(prefix_), Texts({"b", "a/c"}), Texts({"", ""}), {Const(b), Const(a)}));
  const std::vector<Output> restored = RestoreV2(Text(prefix_), Texts({"a/c", "b"}),
                                                 Texts({"", ""}), {DType::kFloat, DType::kString});
  const std::vector<Tensor> values = session_.Run(restored);
  EXPECT_TRUE(values[0].Identical(a));
  EXPECT_TRUE(values[1].Identical(b));
}

TEST_F(SaveRestoreTest, SavesAndRestoresSlices) {
  const Tensor top = Tensor::Of<int32_t>({1, 2}, {1, 2}),
               rest = Tensor::Of<int32_t>({2, 2}, {3, 4, 5, 6});
  session_.Run(SaveV2(Text(prefix_), Texts({"w", "w"}), Texts({"3 2 0,1:0,2", "3 2 1,2:0,2"}),
                      {Const(top), Const(rest)}));
  EXPECT_TRUE(
      Restored("w", DType::kInt32).Identical(Tensor::Of<int32_t>({3, 2}, {1, 2, 3, 4, 5, 6})));
  EXPECT_TRUE(Restored("w", DType::kInt32, "3 2 1,2:0,2").Identical(rest));
  EXPECT_TRUE(
      Restored("w", DType::kInt32, "3 2 0,2:1,1").Identical(Tensor::Of<int32_t>({2, 1}, {2, 4})));
  const Output slice =
      RestoreV2(Text(prefix_), Texts({"w"}), Texts({"3 2 1,2:-"}), {DType::kInt32})[0];
  EXPECT_EQ(slice.shape(), PartialShape({2, 2}));
  EXPECT_EQ(StatusOf([&] { Restored("w", DType::kInt32, "4 2 1,2:-"); }).code(),
            Code::kInvalidArgument);
}

TEST_F(SaveRestoreTest, ErrorsNameTheTensor) {
  session_.Run(SaveV2(Text(prefix_), Texts({"a"}), Texts({""}), {Const(Tensor(1.0f))}));
  const Status missing = StatusOf([&] { Restored("no/such", DType::kFloat); });
  EXPECT_EQ(missing.code(), Code::kNotFound);
  EXPECT_NE(missing.message().find("'no/such'"), std::string::npos) << missing.message();
  const Status type = StatusOf([&] { Restored("a", DType::kInt32); });
  EXPECT_EQ(type.code(), Code::kInvalidArgument);
  EXPECT_NE(type.message().find("saved as float"), std::string::npos) << type.message();
  EXPECT_EQ(StatusOf([&] { Restored("a", DType::kFloat, "", folder_ + "/none"); }).code(),
            Code::kNotFound);
  const auto save = [&](const Output& names, const Output& specs) {
    return StatusOf([&] {
      session_.Run(
          SaveV2(Text(folder_ + "/bad"), names, specs, {Const(Tensor(1.0f)), Const(Tensor(2))}));
    });
  };
  EXPECT_EQ(save(Texts({"a", "a"}), Texts({"", ""})).code(), Code::kInvalidArgument);
  EXPECT_EQ(save(Texts({"a", "b"}), Texts({""})).code(), Code::kInvalidArgument);
  EXPECT_EQ(save(Texts({"a", "b"}), Texts({"", "what"})).code(), Code::kInvalidArgument);
  for (const std::string& name : FileSystem::ForPath(folder_).ListDirectory(folder_)) {
    EXPECT_TRUE(name.starts_with("model.ckpt-3")) << name;
  }
}

TEST_F(SaveRestoreTest, MergesShards) {
  const Output base = Text(folder_ + "/temp/part");
  const Output first = ShardedFilename(base, Const(Tensor(0)), Const(Tensor(2)));
  const Output second = ShardedFilename(base, Const(Tensor(1)), Const(Tensor(2)));
  session_.Run(SaveV2(first, Texts({"a"}), Texts({""}), {Const(Tensor(1.5f))}));
  session_.Run(SaveV2(second, Texts({"b"}), Texts({""}), {Const(Tensor(7))}));
  const Output parts =
      Texts({folder_ + "/temp/part-00000-of-00002", folder_ + "/temp/part-00001-of-00002"});
  session_.Run(MergeV2Checkpoints(parts, Text(prefix_)));
  EXPECT_FALSE(FileSystem::ForPath(folder_).Exists(folder_ + "/temp"));
  EXPECT_EQ(TensorBundleReader(prefix_).num_shards(), 2);
  EXPECT_EQ(Restored("a", DType::kFloat).scalar<float>(), 1.5f);
  EXPECT_EQ(Restored("b", DType::kInt32).scalar<int32_t>(), 7);
  EXPECT_EQ(StatusOf([&] { session_.Run(MergeV2Checkpoints(parts, Text(prefix_))); }).code(),
            Code::kInvalidArgument);
}

TEST_F(SaveRestoreTest, V1FilesHaveTensorFlowsBytes) {
  const std::string path = folder_ + "/s";
  session_.Run(Save(Text(path), Texts({"s"}), {Const(Tensor::Of<std::string>({"x", "yy"}))}));
  // What TensorFlow's Save writes for the same tensor.
  using std::string_literals::operator""s;
  const std::string expected =
      "\x00\x00\x17\n\x15\n\x0f\n\x01s\x12\x04\x12\x02\x08\x02\x18\x07\"\x02\n\x00\x12\x02\x08\x01"
      "\x00\x08\x12\x00s\x00"
      "\x01\x01\x01\x80\x7f\x12\x10\n\x01s\x12\x02\n\x00\x1a\x07"
      "B\x01x"
      "B\x02yy\x00\x00\x00\x00\x01\x00\x00\x00\x00\x95\xe7L\xb7\x00\x00\x00\x00\x01\x00\x00\x00\x00"
      "\xc0\xf2\xa1\xb0\x00"
      "\x01\x02\x01\x00?\x00\x00\x00\x00\x01\x00\x00\x00\x00\x94m\x08\xe7"
      "D\x08Q\x0e"s;
  const std::string padding(36, '\0'), magic = "\x57\xfb\x80\x8b\x24\x75\x47\xdb";
  EXPECT_EQ(FileSystem::ForPath(path).ReadFile(path), expected + padding + magic);
  EXPECT_TRUE(session_.Run(Restore(Text(path), Text("s"), DType::kString))
                  .Identical(Tensor::Of<std::string>({"x", "yy"})));
}

TEST_F(SaveRestoreTest, V1KeepsTypesAndSlices) {
  const std::string path = folder_ + "/m";
  const std::vector<Tensor> tensors = {Tensor::Of<float>({1, 2, 3}),
                                       Tensor(5),
                                       Tensor(int64_t{7}),
                                       Tensor::Of<Half>({Half(1.5f)}),
                                       Tensor::Of<bool>({true, false}),
                                       Tensor::Of<std::complex<float>>({{1, 2}}),
                                       Tensor(DType::kFloat, {0, 3})};
  std::vector<std::string> names;
  std::vector<Output> data;
  for (size_t i = 0; i < tensors.size(); ++i) {
    names.push_back(fmt::format("t{}", i));
    data.push_back(Const(tensors[i]));
  }
  session_.Run(Save(Text(path), Texts(names), data));
  for (size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_TRUE(
        session_.Run(Restore(Text(path), Text(names[i]), tensors[i].dtype())).Identical(tensors[i]))
        << i;
    EXPECT_TRUE(Restored(names[i], tensors[i].dtype(), "", path).Identical(tensors[i]))
        << i;  // RestoreV2 reads V1
  }
  const Tensor top = Tensor::Of<float>({1, 2}, {1, 2}),
               rest = Tensor::Of<float>({2, 2}, {3, 4, 5, 6});
  session_.Run(SaveSlices(Text(folder_ + "/w-00000-of-00002"), Texts({"w"}), Texts({"3 2 0,1:0,2"}),
                          {Const(top)}));
  session_.Run(SaveSlices(Text(folder_ + "/w-00001-of-00002"), Texts({"w"}), Texts({"3 2 1,2:0,2"}),
                          {Const(rest)}));
  const Output pattern = ShardedFilespec(Text(folder_ + "/w"), Const(Tensor(2)));
  EXPECT_TRUE(session_.Run(Restore(pattern, Text("w"), DType::kFloat))
                  .Identical(Tensor::Of<float>({3, 2}, {1, 2, 3, 4, 5, 6})));
  EXPECT_TRUE(session_.Run(RestoreSlice(pattern, Text("w"), Text("3 2 1,1:-"), DType::kFloat))
                  .Identical(Tensor::Of<float>({1, 2}, {3, 4})));
  EXPECT_EQ(StatusOf([&] { session_.Run(Restore(Text(path), Text("t0"), DType::kInt32)); }).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { session_.Run(Restore(Text(path), Text("zz"), DType::kInt32)); }).code(),
            Code::kNotFound);
  EXPECT_EQ(StatusOf([&] {
              session_.Run(Save(Text(path), Texts({"b"}), {Const(Tensor(DType::kBFloat16, {0}))}));
            }).code(),
            Code::kUnimplemented);
}

}  // namespace
}  // namespace sextant
