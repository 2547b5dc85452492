#include "sextant/ops/dataset/iterator.h"

#include <gtest/gtest.h>

#include <functional>

#include "sextant/data/tensor_sources.h"
#include "sextant/device/resource_manager.h"
#include "sextant/graph/graph_def.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/control_flow/optional.h"
#include "sextant/ops/dataset/iterator_resource.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

class IteratorTest : public testing::Test {
 protected:
  const IteratorSignature signature_{{DType::kInt64}, {Shape()}};
  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(IteratorTest, EverySessionIteratesByItself) {
  const Output handle = IteratorHandle(signature_, data::Range(3, 5));
  const Output next = IteratorGetNext(handle)[0];
  EXPECT_EQ(next.shape(), PartialShape(Shape()));
  for (int i = 0; i < 2; ++i) {
    Session session(graph_);
    EXPECT_EQ(session.Run(next).AsInt64(), 3);
    EXPECT_EQ(session.Run(next).AsInt64(), 4);
    EXPECT_EQ(StatusOf([&] { session.Run(next); }).code(), Code::kOutOfRange);
    EXPECT_EQ(StatusOf([&] { session.Run(next); }).code(), Code::kOutOfRange);
    EXPECT_EQ(session.Run({{next, Tensor(int64_t{9})}}, next).AsInt64(), 9);
  }
}

TEST_F(IteratorTest, DeadlinesEndWhatItWaitsFor) {
  constexpr int64_t kEndless = int64_t{1} << 60;
  const data::Dataset numbers = data::Range(kEndless);
  for (const data::Dataset& endless : {numbers.Skip(kEndless / 2), numbers.Shuffle(1 << 28),
                                       numbers.Skip(kEndless / 2).Prefetch()}) {
    Graph graph;
    const GraphScope use(graph);
    const Output next = IteratorGetNext(IteratorHandle(signature_, endless))[0];
    Session session(graph);
    const Status status =
        StatusOf([&] { session.Run(next, {.deadline = std::chrono::milliseconds(20)}); });
    EXPECT_EQ(status.code(), Code::kDeadlineExceeded) << status.ToString();
  }
}

TEST_F(IteratorTest, IsInitialisedAnew) {
  const Output handle = IteratorHandle(signature_);
  const Output next = IteratorGetNext(handle)[0];
  const Operation low = MakeIterator(handle, data::Range(0, 2));
  const Operation high = MakeIterator(handle, data::Range(10, 12));
  Session session(graph_);
  EXPECT_EQ(StatusOf([&] { session.Run(next); }).code(), Code::kFailedPrecondition);
  session.Run(low);
  EXPECT_EQ(session.Run(next).AsInt64(), 0);
  session.Run(high);
  EXPECT_EQ(session.Run(next).AsInt64(), 10);
  EXPECT_EQ(session.Run(next).AsInt64(), 11);
  EXPECT_EQ(StatusOf([&] { session.Run(next); }).code(), Code::kOutOfRange);
  session.Run(high);
  EXPECT_EQ(session.Run(next).AsInt64(), 10);
}

TEST_F(IteratorTest, ChecksWhatItGives) {
  const Output wrong = IteratorHandle({{DType::kFloat}, {Shape()}}, data::Range(0, 2));
  const Output vector = IteratorHandle({{DType::kInt64}, {PartialShape{-1}}}, data::Range(0, 2));
  Session session(graph_);
  EXPECT_EQ(StatusOf([&] { session.Run(IteratorGetNext(wrong)[0]); }).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { session.Run(IteratorGetNext(vector)[0]); }).code(),
            Code::kInvalidArgument);
}

TEST_F(IteratorTest, IsFoundByItsName) {
  const Output handle = IteratorHandle(signature_, data::Range(3, 5), "numbers");
  const Output name = OpBuilder("IteratorToStringHandle").Input(handle).Build();
  const Output fed = OpBuilder("Placeholder").Attr("dtype", DType::kString).Build();
  const auto types = signature_.types;
  const auto shapes = signature_.shapes;
  const Output found = OpBuilder("IteratorFromStringHandleV2")
                           .Input(fed)
                           .Attr("output_types", types)
                           .Attr("output_shapes", shapes)
                           .Build();
  const Output next = OpBuilder("IteratorGetNextSync")
                          .Input(found)
                          .Attr("output_types", types)
                          .Attr("output_shapes", shapes)
                          .Build();
  Session session(graph_);
  const Tensor value = session.Run(name);
  EXPECT_EQ(value.scalar<std::string>(), "numbers");
  EXPECT_EQ(session.Run({{fed, value}}, next).AsInt64(), 3);
  EXPECT_EQ(StatusOf([&] { session.Run({{fed, Tensor("none")}}, next); }).code(), Code::kNotFound);
}

TEST_F(IteratorTest, GivesOptionals) {
  const Output handle = IteratorHandle(signature_, data::Range(3, 4));
  const Output optional = OpBuilder("IteratorGetNextAsOptional")
                              .Input(handle)
                              .Attr("output_types", signature_.types)
                              .Attr("output_shapes", signature_.shapes)
                              .Build();
  const Output has = OptionalHasValue(optional);
  Session session(graph_);
  EXPECT_TRUE(session.Run(has).scalar<bool>());
  EXPECT_FALSE(session.Run(has).scalar<bool>());
}

TEST_F(IteratorTest, GoesOnWhereItStood) {
  const Output handle = IteratorHandle(signature_, data::Range(0, 9), "numbers");
  const Output next = IteratorGetNext(handle)[0];
  std::string state;
  {
    Session session(graph_);
    session.Run(next);
    session.Run(next);
    state = *session.resources()
                 .Lookup<IteratorResource>(IteratorResource::kContainer, "numbers")
                 ->Save();
    session.Run(next);
  }
  IteratorResource fresh;
  EXPECT_FALSE(fresh.Save());
  Session session(graph_);
  const auto resource = session.resources().LookupOrCreate<IteratorResource>(
      IteratorResource::kContainer, "numbers", [] { return std::make_shared<IteratorResource>(); });
  resource->Restore(state);
  EXPECT_EQ(resource->Save(), state);
  EXPECT_EQ(session.Run(next).AsInt64(), 2);
  EXPECT_EQ(session.Run(next).AsInt64(), 3);
  resource->Restore(state);  // in the middle of an iteration
  EXPECT_EQ(session.Run(next).AsInt64(), 2);
}

TEST_F(IteratorTest, IsExportedWithoutItsSource) {
  const Output handle = IteratorHandle(signature_, data::Range(0, 9), "numbers");
  MakeIterator(handle, data::Range(0, 9), "start");
  const std::string next = IteratorGetNext(handle, "next")[0].name();
  const proto::GraphDef def = ExportGraphDef(graph_);
  Graph copy;
  ImportGraphDef(def, copy);
  Session session(copy);
  EXPECT_EQ(StatusOf([&] { session.Run({}, std::vector<std::string>{next}); }).code(),
            Code::kFailedPrecondition);
  EXPECT_EQ(StatusOf([&] { session.Run(copy.FindOperation("start")); }).code(),
            Code::kUnimplemented);
}

}  // namespace
}  // namespace sextant
