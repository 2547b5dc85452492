// Exact resume: an iterator saved after any element and restored gives the same elements, bit for
// bit, in the same process and in another one.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "sextant/base/coding.h"
#include "sextant/base/crc32c.h"
#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/data/pipelines_for_testing.h"
#include "sextant/data/tensor_sources.h"

namespace sextant::data {
namespace {

using Texts = std::vector<std::string>;

Texts Sorted(Texts texts) {
  std::ranges::sort(texts);
  return texts;
}

std::string Folder() {
  std::string folder = JoinPath(testing::TempDir(), fmt::format("resume_{}", getpid()));
  FileSystem::ForPath(folder).CreateDirectories(folder);
  return folder;
}

// What follows an iterator saved after k elements, of itself and of a restored one.
void CheckResume(const Pipeline& pipeline, size_t k) {
  SCOPED_TRACE(fmt::format("{} after {}", pipeline.name, k));
  const auto whole = pipeline.make().MakeIterator();
  Texts before;
  for (size_t i = 0; i < k; ++i) before.push_back(NextText(*whole));
  const std::string state = whole->SaveState();
  const auto restored = pipeline.make().MakeIterator();
  restored->RestoreState(state);
  const Texts expected = Rest(*whole), found = Rest(*restored);
  if (pipeline.ordered) {
    ASSERT_EQ(found, expected);
  } else {
    ASSERT_EQ(Sorted(found), Sorted(expected));
  }
}

void CheckEverywhere(const Pipeline& pipeline) {
  Texts all = ElementTexts(pipeline.make());
  ASSERT_LT(all.size(), 1000u) << pipeline.name;
  for (size_t k = 0; k <= all.size() + 1; ++k) {
    CheckResume(pipeline, k);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(ResumeTest, GoesOnAfterAnyElementOfEveryTransformation) {
  for (const Pipeline& pipeline : AllPipelines(Folder())) CheckEverywhere(pipeline);
}

TEST(ResumeTest, GoesOnAfterAnyElementOfRandomCompositions) {
  for (int number = 0; number < 150; ++number) {
    CheckEverywhere(RandomPipeline(number));
    if (HasFatalFailure()) FAIL() << RandomPipeline(number).make().Fingerprint();
  }
}

TEST(ResumeTest, SavingDoesNotChangeTheIteration) {
  const std::string folder = Folder();
  for (const Pipeline& pipeline : AllPipelines(folder)) {
    if (!pipeline.ordered || pipeline.name.find("Unseeded") != std::string::npos ||
        pipeline.name == "Concatenate") {
      continue;
    }
    const Texts expected = ElementTexts(pipeline.make());
    const auto iterator = pipeline.make().MakeIterator();
    Texts found;
    do {
      iterator->SaveState();
      found.push_back(NextText(*iterator));
    } while (found.back() != "end");
    EXPECT_EQ(found, expected) << pipeline.name;
  }
}

TEST(ResumeTest, ResumesAResumedIterator) {
  for (int number = 0; number < 20; ++number) {
    const Pipeline pipeline = RandomPipeline(number);
    const Texts expected = ElementTexts(pipeline.make());
    Texts found;
    std::string state = pipeline.make().MakeIterator()->SaveState();
    do {
      const auto iterator = pipeline.make().MakeIterator();
      iterator->RestoreState(state);
      found.push_back(NextText(*iterator));
      state = iterator->SaveState();
    } while (found.back() != "end");
    EXPECT_EQ(found, expected) << pipeline.make().Fingerprint();
  }
}

// The other process is this program, told by its environment which state to restore.
constexpr char kStateFile[] = "SEXTANT_RESUME_TEST_STATE";
constexpr char kPipeline[] = "SEXTANT_RESUME_TEST_PIPELINE";

TEST(ResumeTest, OtherProcess) {
  const char* const path = std::getenv(kStateFile);
  if (!path) GTEST_SKIP() << "started by GoesOnInAnotherProcess";
  FileSystem& files = FileSystem::ForPath(path);
  const std::string folder(DirectoryName(path));
  const Pipeline pipeline = AllPipelines(folder)[static_cast<size_t>(atoi(std::getenv(kPipeline)))];
  const auto iterator = pipeline.make().MakeIterator();
  iterator->RestoreState(files.ReadFile(path));
  std::string rest;
  for (const std::string& text : Rest(*iterator)) rest += text + "\n";
  files.WriteFileAtomically(std::string(path) + ".rest", rest);
}

TEST(ResumeTest, GoesOnInAnotherProcess) {
  const std::string folder = Folder();
  FileSystem& files = FileSystem::ForPath(folder);
  const std::vector<Pipeline> pipelines = AllPipelines(folder);
  for (size_t i = 0; i < pipelines.size(); ++i) {
    if (!pipelines[i].ordered) continue;
    const auto iterator = pipelines[i].make().MakeIterator();
    for (size_t k = 0; k < 3 + i % 3; ++k) NextText(*iterator);
    const std::string path = JoinPath(folder, "state");
    files.WriteFileAtomically(path, iterator->SaveState());
    std::string expected;
    for (const std::string& text : Rest(*iterator)) expected += text + "\n";
    const pid_t child = fork();
    if (child == 0) {
      setenv(kStateFile, path.c_str(), 1);
      setenv(kPipeline, std::to_string(i).c_str(), 1);
      execl("/proc/self/exe", "data_test", "--gtest_filter=ResumeTest.OtherProcess",
            "--gtest_brief=1", nullptr);
      _exit(127);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0) << pipelines[i].name;
    EXPECT_EQ(files.ReadFile(path + ".rest"), expected) << pipelines[i].name;
  }
}

TEST(ResumeTest, SavesPositionsInsteadOfElementsThatCanBeSought) {
  const Element rows{{"x", Tensor::Zeros(DType::kFloat, {100, 1000})}};
  const auto iterator = FromTensorSlices(rows).Repeat().Shuffle(50).MakeIterator();
  NextText(*iterator);
  EXPECT_LT(iterator->SaveState().size(), 2000u);
}

TEST(ResumeTest, RefusesStatesThatDoNotFit) {
  const Dataset dataset = Range(10).Shuffle(4, {.seed = 1}).Batch(3);
  const auto iterator = dataset.MakeIterator();
  NextText(*iterator);
  const std::string state = iterator->SaveState();
  EXPECT_THROW(iterator->RestoreState(state), Error);  // after Next
  const auto code = [](const Dataset& d, std::string_view bytes) {
    try {
      d.MakeIterator()->RestoreState(bytes);
      return Code::kOk;
    } catch (const Error& error) {
      return error.code();
    }
  };
  EXPECT_EQ(code(dataset, state), Code::kOk);
  EXPECT_EQ(code(Range(10).Shuffle(4, {.seed = 2}).Batch(3), state), Code::kFailedPrecondition);
  for (size_t size = 0; size < state.size(); ++size) {
    EXPECT_EQ(code(dataset, std::string_view(state).substr(0, size)), Code::kDataLoss) << size;
  }
  for (size_t bit = 0; bit < 8 * state.size(); ++bit) {
    std::string flipped = state;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    EXPECT_EQ(code(dataset, flipped), Code::kDataLoss) << bit;
  }
}

// Bytes that are wrong but have a checksum give an error or some elements, never a crash.
TEST(ResumeTest, SurvivesStatesThatLie) {
  constexpr size_t kHead = 12;  // magic and checksum
  std::minstd_rand random(1);
  for (const Pipeline& pipeline : AllPipelines(Folder())) {
    const auto iterator = pipeline.make().MakeIterator();
    for (int k = 0; k < 3; ++k) NextText(*iterator);
    const std::string state = iterator->SaveState();
    const size_t name = pipeline.make().Fingerprint().size();
    for (int i = 0; i < 60; ++i) {
      std::string body = state.substr(kHead);
      // Behind the name of the pipeline, whose change is found at once.
      const size_t at = name + 10 + random() % (body.size() - name - 10);
      body[at] = static_cast<char>(body[at] ^ 1 << random() % 8);
      std::string lie = state.substr(0, kHead - 4);
      PutFixed32(&lie, MaskedCrc32c(body));
      const auto restored = pipeline.make().MakeIterator();
      try {
        restored->RestoreState(lie + body);
        Rest(*restored, 100);
      } catch (const Error&) {
      }
    }
  }
}

}  // namespace
}  // namespace sextant::data
