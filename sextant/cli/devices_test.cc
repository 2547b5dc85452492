#include "sextant/cli/devices.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace sextant::cli {
namespace {

TEST(Devices, DescribesTheHost) {
  const HostInfo host = GetHostInfo();
  EXPECT_GE(host.cores, 1);
  EXPECT_GT(host.memory, 64u << 20);
  EXPECT_LE(host.memory_available, host.memory);
#ifdef __x86_64__
  EXPECT_FALSE(host.instruction_sets.empty());
#endif
}

TEST(Devices, PrintsTextAndJson) {
  std::ostringstream text, json;
  ListDevices(false, text);
  EXPECT_NE(text.str().find("/device:CPU:0\n"), std::string::npos) << text.str();
  ListDevices(true, json);
  const auto device = nlohmann::json::parse(json.str()).at("devices").at(0);
  EXPECT_EQ(device.at("type"), "CPU");
  EXPECT_EQ(device.at("cores"), GetHostInfo().cores);
  EXPECT_TRUE(device.at("instruction_sets").is_array());
}

}  // namespace
}  // namespace sextant::cli
