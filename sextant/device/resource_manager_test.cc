#include "sextant/device/resource_manager.h"

#include <gtest/gtest.h>

#include "sextant/device/device.h"
#include "sextant/device/variable.h"

namespace sextant {
namespace {

struct Counter : Resource {
  static constexpr const char* kTypeName = "Counter";
  int value = 0;
};

std::shared_ptr<VariableResource> NewVariable() {
  return std::make_shared<VariableResource>("v", DType::kFloat, PartialShape());
}

TEST(ResourceManagerTest, MakesOnceAndFindsByNameAndType) {
  ResourceManager resources;
  const auto make = [] { return std::make_shared<Counter>(); };
  const auto counter = resources.LookupOrCreate<Counter>("c", "n", make);
  EXPECT_EQ(resources.LookupOrCreate<Counter>("c", "n", make), counter);
  EXPECT_EQ(resources.Lookup<Counter>("c", "n"), counter);
  EXPECT_EQ(resources.Lookup<Counter>("other", "n"), nullptr);
  EXPECT_EQ(resources.Lookup<VariableResource>("c", "n"), nullptr);
  EXPECT_THROW(resources.LookupOrCreate<VariableResource>("c", "n", NewVariable), Error);
  EXPECT_EQ(resources.All().size(), 1u);
  EXPECT_TRUE(resources.Delete("c", "n"));
  EXPECT_FALSE(resources.Delete("c", "n"));
}

TEST(ResourceManagerTest, AFailedCreationLeavesNothing) {
  ResourceManager resources;
  EXPECT_THROW(resources.LookupOrCreate<Counter>(
                   "c", "n", []() -> std::shared_ptr<Counter> { throw Internal("no"); }),
               Error);
  EXPECT_TRUE(resources.All().empty());
}

TEST(ResourceManagerTest, ASessionFindsItsOwnBeforeWhatItShares) {
  ResourceManager task;
  ResourceManager session(&task), other(&task);
  const auto make = [] { return std::make_shared<Counter>(); };
  const auto shared = session.shared().LookupOrCreate<Counter>("c", "n", make);
  EXPECT_EQ(&task.shared(), &task);
  EXPECT_EQ(other.Lookup<Counter>("c", "n"), shared);
  const auto own = session.LookupOrCreate<Counter>("c", "n", make);
  EXPECT_NE(own, shared);
  EXPECT_EQ(session.Lookup<Counter>("c", "n"), own);
  EXPECT_EQ(other.Lookup<Counter>("c", "n"), shared);
  ASSERT_EQ(session.All().size(), 1u);
  EXPECT_EQ(session.All()[0].second, own);
  EXPECT_TRUE(session.Delete("c", "n"));
  EXPECT_EQ(session.Lookup<Counter>("c", "n"), shared);
  session.Clear();
  EXPECT_EQ(task.All().size(), 1u);
}

TEST(ResourceOfTest, ThrowsOnAnEmptyHandleOrAnotherType) {
  EXPECT_THROW(ResourceOf<Counter>(ResourceHandle{}), Error);
  ResourceHandle handle{.name = "v", .resource = NewVariable()};
  EXPECT_THROW(ResourceOf<Counter>(handle), Error);
  EXPECT_NE(ResourceOf<VariableResource>(handle), nullptr);
}

TEST(VariableResourceTest, WhatWasReadStaysAsItWas) {
  const auto variable = NewVariable();
  EXPECT_THROW(variable->Read(), Error);
  variable->set_value(Tensor::Of<float>({1, 2}));
  const void* home = variable->value().raw_data();
  variable->mutable_value().data<float>()[0] = 3;
  EXPECT_EQ(variable->value().raw_data(), home);  // nobody else held it
  const Tensor read = variable->Read();
  variable->mutable_value().data<float>()[0] = 4;
  EXPECT_EQ(read.data<float>()[0], 3);
  EXPECT_EQ(variable->Read().data<float>()[0], 4);
  EXPECT_EQ(variable->version(), 3);
}

TEST(HostDeviceTest, SharesWhatLastsAndCopiesWhatDoesNot) {
  const auto devices = MakeHostDevices(2);
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[1]->name(), "/job:localhost/replica:0/task:0/device:CPU:1");
  EXPECT_EQ(devices[1]->type(), "CPU");
  EXPECT_GT(devices[0]->memory_bytes(), 0);
  const Tensor lasting(1.0f);
  EXPECT_TRUE(devices[0]->FromHost(lasting).SharesBufferWith(lasting));
  const Tensor transient(1.0f);
  transient.buffer()->set_transient(true);
  EXPECT_FALSE(devices[0]->ToHost(transient).SharesBufferWith(transient));
}

}  // namespace
}  // namespace sextant
