// Kernels of users that do not keep their contract: the run ends with an Error that names the node.
#include <gtest/gtest.h>

#include <limits>
#include <new>
#include <stdexcept>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/sextant.h"

namespace sextant {
namespace {

// What the kernel of TestMisbehave does.
enum class Misdeed {
  kNone,
  kSetsNothing,
  kSetsOneOfTwo,
  kThrows,
  kRunsOutOfMemory,
  kAsksForTooMuch,
  kThrowsNumber,
  kThrowsOk
};
Misdeed misdeed = Misdeed::kNone;

void Misbehave(KernelContext& ctx) {
  const Tensor& x = ctx.input(0);
  switch (misdeed) {
    case Misdeed::kSetsNothing:
      return;
    case Misdeed::kThrows:
      throw std::runtime_error("no such cube");
    case Misdeed::kRunsOutOfMemory:
      throw std::bad_alloc();
    case Misdeed::kAsksForTooMuch:
      std::vector<float>().reserve(std::numeric_limits<size_t>::max());
      break;
    case Misdeed::kThrowsNumber:
      throw 7;
    case Misdeed::kThrowsOk:
      throw Error(Code::kOk, "all is well");
    default:
      break;
  }
  for (int i = 0; i < (misdeed == Misdeed::kSetsOneOfTwo ? 1 : 2); ++i) {
    Tensor& y = ctx.AllocateOutput(i, x.shape());
    for (int64_t k = 0; k < x.num_elements(); ++k) y.data<float>()[k] = 1.0f;
  }
}

class UserKernelTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    OpRegistry::Global().Add(OpDef("TestMisbehave")
                                 .Inputs("x:float")
                                 .Outputs("y:float, z:float")
                                 .Doc("Ones; for tests.")
                                 .Shape([](ShapeContext& ctx) {
                                   ctx.set_output(0, ctx.input(0));
                                   ctx.set_output(1, ctx.input(0));
                                 }));
    KernelRegistry::Global().Add(KernelDef("TestMisbehave").Function(Misbehave));
  }

  // Of running the sum of both outputs for an x of known or unknown shape, or for a constant.
  static Status RunError(Misdeed what, bool constant, const PartialShape& shape,
                         ParallelSteps use = ParallelSteps::kWhenFaster) {
    misdeed = what;
    Graph graph;
    const GraphScope scope(graph);
    const Tensor value = Tensor::Of<float>({1, 2, 3});
    const Output x = constant ? Const(value) : Placeholder(DType::kFloat, shape);
    const auto outputs = OpBuilder("TestMisbehave").Input(x).Name("mine").BuildAll();
    const Output sum = Square(outputs[0]) + Square(outputs[1]);
    SessionOptions options;
    options.optimizer.parallel_steps = use;
    Session session(graph, options);
    try {
      session.Run(constant ? FeedMap{} : FeedMap{{x, value}}, sum);
    } catch (const Error& e) {
      return e.status();
    }
    return Status();
  }
};

TEST_F(UserKernelTest, WhateverTheKernelDoesTheErrorNamesTheNode) {
  struct Case {
    Misdeed misdeed;
    Code code;
    const char* message;
  };
  const Case cases[] = {
      {Misdeed::kNone, Code::kOk, ""},
      {Misdeed::kSetsNothing, Code::kInternal,
       "[TestMisbehave mine] the kernel has not set output 0 of 2"},
      {Misdeed::kSetsOneOfTwo, Code::kInternal,
       "[TestMisbehave mine] the kernel has not set output 1 of 2"},
      {Misdeed::kThrows, Code::kInternal, "[TestMisbehave mine] no such cube"},
      {Misdeed::kRunsOutOfMemory, Code::kResourceExhausted, "[TestMisbehave mine] out of memory"},
      {Misdeed::kAsksForTooMuch, Code::kResourceExhausted, "[TestMisbehave mine] out of memory"},
      {Misdeed::kThrowsNumber, Code::kInternal,
       "[TestMisbehave mine] the kernel threw what is not a std::exception"},
      {Misdeed::kThrowsOk, Code::kInternal,
       "[TestMisbehave mine] the kernel threw an Error with the code OK: all is well"},
  };
  for (const Case& c : cases) {
    for (const bool constant : {false, true}) {
      for (const ParallelSteps use : {ParallelSteps::kNever, ParallelSteps::kAlways}) {
        const Status status = RunError(c.misdeed, constant, PartialShape{3}, use);
        EXPECT_EQ(status.code(), c.code) << c.message;
        EXPECT_EQ(status.message(), c.message);
      }
    }
    const Status unknown = RunError(c.misdeed, false, PartialShape());
    EXPECT_EQ(unknown.code(), c.code);
    EXPECT_EQ(unknown.message(), c.message);
  }
}

class BadConstructor : public Kernel {
 public:
  explicit BadConstructor(KernelInit& init) {
    if (init.attr<bool>("ok")) throw Error(Code::kOk, "all is well");
    throw 7;
  }
  void Compute(KernelContext&) override {}
};

TEST(UserKernelConstructorTest, WhateverItThrowsTheErrorNamesTheNode) {
  OpRegistry::Global().Add(OpDef("TestBadConstructor")
                               .Inputs("x:float")
                               .Outputs("y:float")
                               .Attrs("ok:bool")
                               .Doc("Has no kernel; for tests.")
                               .Shape([](ShapeContext& ctx) { ctx.set_output(0, ctx.input(0)); }));
  KernelRegistry::Global().Add(KernelDef("TestBadConstructor").Make<BadConstructor>());
  for (const bool ok : {false, true}) {
    Graph graph;
    const GraphScope scope(graph);
    const Output x = Placeholder(DType::kFloat, {});
    const Output y = OpBuilder("TestBadConstructor").Input(x).Attr("ok", ok).Name("mine").Build();
    Session session(graph);
    try {
      session.Run({{x, Tensor(1.0f)}}, y);
      FAIL() << "there was a kernel";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kInternal);
      EXPECT_EQ(e.message(),
                ok ? "[TestBadConstructor mine] the kernel threw an Error with the code OK: all is "
                     "well"
                   : "[TestBadConstructor mine] the kernel's constructor threw what is not a "
                     "std::exception");
    }
  }
}

// As a kernel's, what the shape function of an op throws is an Error that names the node.
TEST(UserShapeFunctionTest, WhateverItThrowsTheErrorNamesTheNode) {
  OpRegistry::Global().Add(OpDef("TestShapeThrows")
                               .Inputs("x:float")
                               .Outputs("y:float")
                               .Doc("Has no shape; for tests.")
                               .Shape([](ShapeContext& ctx) {
                                 if (ctx.input(0).rank() == 1)
                                   throw std::runtime_error("no such shape");
                                 if (ctx.input(0).rank() == 2) throw std::bad_alloc();
                                 throw 7;
                               }));
  const auto message = [](int rank) {
    Graph graph;
    const GraphScope scope(graph);
    const Output x = Placeholder(DType::kFloat, PartialShape(std::vector<int64_t>(rank, 3)));
    try {
      OpBuilder("TestShapeThrows").Input(x).Name("mine").Build();
    } catch (const Error& e) {
      EXPECT_EQ(graph.FindNode("mine"), nullptr);  // the graph is as it was
      return e.status().ToString();
    }
    return std::string();
  };
  EXPECT_EQ(message(1), "INTERNAL: [TestShapeThrows mine] its shape function: no such shape");
  EXPECT_EQ(message(2),
            "RESOURCE_EXHAUSTED: [TestShapeThrows mine] its shape function: out of memory");
  EXPECT_EQ(message(3), "INTERNAL: [TestShapeThrows mine] its shape function: unknown exception");
}

}  // namespace
}  // namespace sextant
