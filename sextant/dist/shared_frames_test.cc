#include "sextant/dist/shared_frames.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <thread>

#include "sextant/dist/shared_frames_test.h"
#include "sextant/testing/status_of.h"

namespace sextant::dist {
namespace {

class SharedFramesTest : public testing::Test {
 protected:
  void Connect() {
    client_ = SharedFrames::Connect(listener_.name(), geteuid());
    ASSERT_TRUE(client_);
    server_ = listener_.Find(client_->number());
    ASSERT_TRUE(server_);
  }

  const int mapped_before_ = SharedSegment::num_mapped();
  SharedFramesListener listener_{geteuid()};
  std::shared_ptr<SharedFrames> client_, server_;
};

TEST(SharedSegmentTest, OneFrameAtATime) {
  const SharedSegment::Made made = SharedSegment::Make(100'000);
  const auto other = SharedSegment::Map(made.descriptor);
  ASSERT_TRUE(made.segment && other);
  EXPECT_GE(other->capacity(), 100'000u);
  EXPECT_TRUE(made.segment->Claim());
  EXPECT_FALSE(made.segment->Claim());
  made.segment->data()[99'999] = 'x';
  const uint64_t first = made.segment->Publish();
  EXPECT_FALSE(other->Take(first + 1));
  EXPECT_TRUE(other->Take(first));
  EXPECT_FALSE(other->Take(first));
  EXPECT_EQ(other->data()[99'999], 'x');
  made.segment->Withdraw(first);  // too late
  EXPECT_FALSE(made.segment->free());
  other->Release(first);
  EXPECT_TRUE(made.segment->Claim());
  other->Release(first);  // not again
  EXPECT_FALSE(made.segment->free());
  const uint64_t second = made.segment->Publish();
  made.segment->Withdraw(second);
  EXPECT_FALSE(other->Take(second));
  EXPECT_TRUE(made.segment->free());
}

TEST(SharedSegmentTest, MemoryThatCouldShrinkIsNotMapped) {
  const Descriptor loose(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(loose.get(), 1 << 20), 0);
  EXPECT_FALSE(SharedSegment::Map(loose));
  const Descriptor file(memfd_create("test", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(file.get(), 1 << 20), 0);
  EXPECT_FALSE(SharedSegment::Map(file));
  EXPECT_FALSE(SharedSegment::Map(Descriptor()));
}

// It is mapped with its memory: a descriptor must not cost more than a frame does.
TEST(SharedSegmentTest, MemoryWithoutEndIsNotMapped) {
  const Descriptor huge(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(huge.get(), off_t{1} << 40), 0);
  ASSERT_EQ(fcntl(huge.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
  EXPECT_FALSE(SharedSegment::Map(huge));
}

TEST_F(SharedFramesTest, TensorsArriveAsTheyWereBothWays) {
  Connect();
  const std::vector<Tensor> tensors = {Floats(50'000, 1),
                                       Tensor::Of<int64_t>({4, 5}),
                                       Tensor(),
                                       Tensor::FromVector<std::string>({"a", "", "longer"}),
                                       Tensor::Zeros(DType::kBool, {3, 700}),
                                       Tensor(DType::kFloat, {0, 7}),
                                       Floats(400, -5),
                                       Tensor(2.5)};
  for (SharedFrames* writer : {client_.get(), server_.get()}) {
    SharedFrames& reader = writer == client_.get() ? *server_ : *client_;
    for (int round = 0; round < 3; ++round) {
      const auto written = writer->Write(tensors);
      ASSERT_TRUE(written);
      ASSERT_TRUE(reader.Knows(written->place()));
      const std::vector<Tensor> read = reader.Read(written->place(), round == 0);
      ASSERT_EQ(read.size(), tensors.size());
      for (size_t i = 0; i < read.size(); ++i) {
        EXPECT_EQ(read[i].valid(), tensors[i].valid());
        if (read[i].valid()) {
          EXPECT_TRUE(read[i].Identical(tensors[i])) << i;
        }
      }
      EXPECT_TRUE(read[0].SharesBufferWith(read[6]));   // not copied
      EXPECT_FALSE(read[0].SharesBufferWith(read[4]));  // bools, which are
      EXPECT_EQ(read[0].buffer()->transient(), round == 0);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(read[0].raw_data()) % kBufferAlignment, 0u);
    }
  }
  // One segment of each end, seen by both: they were used again.
  EXPECT_EQ(SharedSegment::num_mapped(), mapped_before_ + 4);
}

TEST_F(SharedFramesTest, WhatIsHeldIsNotWrittenTo) {
  Connect();
  const Tensor first = Floats(100'000, 1), second = Floats(100'000, 2);
  std::vector<Tensor> held;
  {
    const auto written = client_->Write({&first, 1});
    held = server_->Read(written->place(), true);
  }
  for (int i = 0; i < 3; ++i) {
    const auto written = client_->Write({&second, 1});
    EXPECT_TRUE(server_->Read(written->place(), true)[0].Identical(second));
  }
  EXPECT_TRUE(held[0].Identical(first));
  EXPECT_EQ(SharedSegment::num_mapped(), mapped_before_ + 4);
}

TEST_F(SharedFramesTest, FramesThatAreNotThereAreErrors) {
  Connect();
  const Tensor tensor = Floats(100'000, 1);
  auto written = client_->Write({&tensor, 1});
  SharedPlace place = written->place();
  const auto read = [&] { return StatusOf([&] { server_->Read(place, true); }).code(); };
  place.set_frame(place.frame() + 1);
  EXPECT_EQ(read(), Code::kAborted);
  place.set_frame(written->place().frame());
  place.set_bytes(uint64_t{1} << 40);
  EXPECT_FALSE(server_->Knows(place));
  EXPECT_EQ(read(), Code::kAborted);
  place.set_bytes(written->place().bytes() - 4);
  EXPECT_EQ(read(), Code::kDataLoss);
  place = written->place();
  EXPECT_EQ(read(), Code::kAborted);  // taken before
  written = client_->Write({&tensor, 1});
  place = written->place();
  written = nullptr;
  EXPECT_EQ(read(), Code::kAborted);  // withdrawn
  place.set_segment(77);
  EXPECT_FALSE(server_->Knows(place));
}

TEST_F(SharedFramesTest, SmallFramesAndTooManyTravelInCalls) {
  Connect();
  const Tensor small = Floats(100, 1), large = Floats(100'000, 1);
  EXPECT_FALSE(client_->Write({&small, 1}));
  std::vector<std::shared_ptr<const SharedFrames::Written>> all;
  while (auto written = client_->Write({&large, 1})) all.push_back(std::move(written));
  EXPECT_GE(all.size(), 4u);
  EXPECT_LE(all.size(), 64u);
  all.pop_back();
  EXPECT_TRUE(client_->Write({&large, 1}));
}

TEST_F(SharedFramesTest, IdleSegmentsAreFreedAtBothEnds) {
  Connect();
  const Tensor tensor = Floats(100'000, 1);
  server_->Read(client_->Write({&tensor, 1})->place(), true);
  EXPECT_EQ(SharedSegment::num_mapped(), mapped_before_ + 2);
  const auto later = SharedFrames::Clock::now() + std::chrono::minutes(1);
  EXPECT_TRUE(client_->Tidy(later));
  EXPECT_TRUE(server_->Tidy(later));
  EXPECT_EQ(SharedSegment::num_mapped(), mapped_before_);
  EXPECT_TRUE(server_->Read(client_->Write({&tensor, 1})->place(), true)[0].Identical(tensor));
}

size_t NumOpenDescriptors() {
  const auto files = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}

// A message may carry more descriptors than it should, or nothing else.
TEST(SharedFramesMessages, DescriptorsDoNotStayOpen) {
  for (const size_t bytes : {16, 4, 0}) {
    const size_t before = NumOpenDescriptors();
    {
      int sockets[2];
      ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, sockets), 0);
      SharedFrames server(Descriptor(sockets[0]), 1);
      const Descriptor client(sockets[1]);
      uint64_t message[2] = {2, 7};
      iovec part = {message, bytes};
      const int sent[3] = {client.get(), client.get(), client.get()};
      alignas(cmsghdr) char control[CMSG_SPACE(sizeof(sent))] = {};
      msghdr header = {};
      header.msg_iov = &part;
      header.msg_iovlen = 1;
      header.msg_control = control;
      header.msg_controllen = sizeof(control);
      cmsghdr* item = CMSG_FIRSTHDR(&header);
      item->cmsg_level = SOL_SOCKET;
      item->cmsg_type = SCM_RIGHTS;
      item->cmsg_len = CMSG_LEN(sizeof(sent));
      std::memcpy(CMSG_DATA(item), sent, sizeof(sent));
      ASSERT_EQ(sendmsg(client.get(), &header, 0), static_cast<ssize_t>(bytes));
      SharedPlace place;
      place.set_segment(7);
      EXPECT_FALSE(server.Knows(place));
      EXPECT_EQ(NumOpenDescriptors(), before + 2) << bytes;
    }
    EXPECT_EQ(NumOpenDescriptors(), before) << bytes;
  }
}

TEST_F(SharedFramesTest, OtherUsersAreRefused) {
  EXPECT_FALSE(SharedFrames::Connect(listener_.name(), geteuid() + 1));
  SharedFramesListener of_another(geteuid() + 1);
  const auto client = SharedFrames::Connect(of_another.name(), geteuid());
  ASSERT_TRUE(client);  // the socket itself is ours
  EXPECT_FALSE(of_another.Find(client->number()));
  EXPECT_FALSE(client->Tidy(SharedFrames::Clock::now()));
  EXPECT_FALSE(SharedFrames::Connect("sextant-nobody", geteuid()));
}

TEST_F(SharedFramesTest, AProcessOfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const uid_t server = geteuid();
  std::shared_ptr<SharedFrames> client;
  std::thread([&] {  // the call, unlike the function of the library, is about the thread alone
    if (syscall(SYS_setresuid, -1, 65534, -1) == 0)
      client = SharedFrames::Connect(listener_.name(), server);
  })
      .join();
  ASSERT_TRUE(client);
  EXPECT_FALSE(listener_.Find(client->number()));
  EXPECT_FALSE(client->Tidy(SharedFrames::Clock::now()));
}

TEST(SharedFramesProcess, DISABLED_Writer) {
  const auto client = SharedFrames::Connect(std::getenv("SHARED_FRAMES_TEST"), geteuid());
  const Tensor tensor = Floats(100'000, 3);
  const auto written = client->Write({&tensor, 1});
  std::cout << "\nwritten " << client->number() << " " << written->place().segment() << " "
            << written->place().frame() << " " << written->place().bytes() << std::endl;
  WaitForInputToEnd();
}

TEST_F(SharedFramesTest, AKilledProcessLeavesNothing) {
  ChildProcess writer = StartOther("Writer", listener_.name());
  std::istringstream words(ReadAfter(writer, "written "));
  uint64_t number = 0, segment = 0, frame = 0, bytes = 0;
  words >> number >> segment >> frame >> bytes;
  server_ = listener_.Find(number);
  ASSERT_TRUE(server_);
  SharedPlace place;
  place.set_segment(segment);
  place.set_frame(frame);
  place.set_bytes(bytes);
  std::vector<Tensor> read = server_->Read(place, true);
  writer.Signal(SIGKILL);
  writer.Wait();
  EXPECT_TRUE(read[0].Identical(Floats(100'000, 3)));  // what was taken stays
  listener_.Tidy();
  EXPECT_FALSE(listener_.Find(number));
  read.clear();
  EXPECT_EQ(SharedSegment::num_mapped(), mapped_before_);
}

}  // namespace
}  // namespace sextant::dist
