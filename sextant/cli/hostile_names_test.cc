// Names and values in files do not reach the terminal as they are.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sextant/base/file_system.h"
#include "sextant/base/printable.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/cli/command.h"
#include "sextant/cli/commands.h"
#include "sextant/formats/event_writer.h"
#include "sextant/formats/example_builder.h"
#include "sextant/formats/tensor_bundle_writer.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/proto/saved_model.pb.h"

namespace sextant::cli {
namespace {

// Clears the screen, sets the title, goes to another line; kInvalid is no UTF-8 either.
const std::string kHostile = "x\x1b[2J\x1b]0;owned\x07\nforged line\xc2\x9b\x7f";
const std::string kInvalid = kHostile + "\xff";

class HostileNamesTest : public testing::Test {
 protected:
  // Runs the program and expects output that shows the name, escaped.
  void ExpectShown(std::vector<std::string> arguments, int code = 0) {
    Command program("sextant", "A program.");
    AddCommands(program);
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    const bool json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
    const std::string command = testing::PrintToString(arguments);
    EXPECT_EQ(RunProgram(program, std::move(arguments)), code) << command;
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    const std::string& shown = code == 0 ? out_ : err_;
    EXPECT_TRUE(IsPrintable(out_ + err_)) << command << Printable(out_ + err_);
    EXPECT_EQ(shown.find("\nforged"), std::string::npos) << command << shown;
    if (json) {
      EXPECT_TRUE(nlohmann::json::accept(out_)) << out_;
    } else {
      EXPECT_NE(shown.find("x\\x1b[2J"), std::string::npos) << command << shown;
    }
  }
  std::string Path(const std::string& name) const { return JoinPath(scratch_.path(), name); }

  const TemporaryDirectory scratch_;
  std::string out_, err_;
};

TEST_F(HostileNamesTest, Records) {
  const std::string path = Path("x.tfrecords");
  TFRecordWriter writer(path);
  ExampleBuilder example;
  example.Bytes(kHostile, kInvalid);
  example.Int64(std::string(31000, 'n'), 1);
  writer.Write(example.Serialize());
  writer.Close();
  ExpectShown({"inspect", path});
  EXPECT_LT(out_.size(), 5000u);
  ExpectShown({"inspect", path, "--json"});
}

TEST_F(HostileNamesTest, Graphs) {
  proto::SavedModel model;
  proto::MetaGraphDef& meta_graph = *model.add_meta_graphs();
  meta_graph.mutable_meta_info_def()->add_tags("serve");
  proto::NodeDef& node = *meta_graph.mutable_graph_def()->add_node();
  node.set_name(kHostile);
  node.set_op("Placeholder");
  proto::SignatureDef& signature = (*meta_graph.mutable_signature_def())[node.name()];
  signature.set_method_name(node.name());
  (*signature.mutable_inputs())[node.name()].set_name(node.name());
  FileSystem& files = FileSystem::ForPath(scratch_.path());
  files.WriteFileAtomically(Path("graph.pb"), meta_graph.graph_def().SerializeAsString());
  files.CreateDirectories(Path("model"));
  files.WriteFileAtomically(Path("model/saved_model.pb"), model.SerializeAsString());
  ExpectShown({"inspect", Path("graph.pb")});
  ExpectShown({"inspect", Path("graph.pb"), "--json"});
  ExpectShown({"inspect", Path("model")});
  ExpectShown({"saved-model", "show", "--dir", Path("model"), "--all"});
  ExpectShown({"saved-model", "show", "--dir", Path("model"), "--tag_set", "serve"});
  ExpectShown({"saved-model", "show", "--dir", Path("model"), "--tag_set", "serve",
               "--signature_def", node.name()});
  ExpectShown(
      {"saved-model", "show", "--dir", Path("model"), "--tag_set", "serve", "--signature_def", "y"},
      1);
}

TEST_F(HostileNamesTest, ArgumentsAndPaths) {
  ExpectShown({"inspect", Path("absent" + kInvalid)}, 1);
  ExpectShown({"train", kInvalid}, 2);
  ExpectShown({"devices", "--" + kInvalid}, 2);
  FileSystem& files = FileSystem::ForPath(scratch_.path());
  files.WriteFileAtomically(Path(kInvalid), "no records");
  ExpectShown({"data", "verify", Path(kInvalid)}, 1);
  EXPECT_TRUE(IsPrintable(out_)) << Printable(out_);
}

TEST_F(HostileNamesTest, MessagesAreShort) {
  FileSystem& files = FileSystem::ForPath(scratch_.path());
  files.WriteFileAtomically(Path("x.json"), "{\"x\\u001b[2J" + std::string(31000, 'x') + "\": 1}");
  ExpectShown({"train", "linear", "--config", Path("x.json")}, 2);
  EXPECT_LT(err_.size(), 2000u) << err_;
}

}  // namespace
}  // namespace sextant::cli
