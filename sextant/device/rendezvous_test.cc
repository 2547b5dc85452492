#include "sextant/device/rendezvous.h"

#include <gtest/gtest.h>

#include <thread>

#include "sextant/base/error.h"

namespace sextant {
namespace {

TEST(RendezvousTest, ReceiveWaitsForSend) {
  LocalRendezvous rendezvous;
  CancellationToken token;
  std::thread sender([&] { rendezvous.Send(1, "k", Tensor(2.5f)); });
  EXPECT_EQ(rendezvous.Receive(1, "k", token).scalar<float>(), 2.5f);
  sender.join();
}

TEST(RendezvousTest, StepsAreApart) {
  LocalRendezvous rendezvous;
  CancellationToken token;
  rendezvous.Send(1, "k", Tensor(1));
  rendezvous.Send(2, "k", Tensor(2));
  rendezvous.Clear(1);
  EXPECT_EQ(rendezvous.Receive(2, "k", token).scalar<int32_t>(), 2);
  rendezvous.Send(1, "k", Tensor(3));  // free again after Clear
  EXPECT_EQ(rendezvous.Receive(1, "k", token).scalar<int32_t>(), 3);
}

TEST(RendezvousTest, RejectsASecondSend) {
  LocalRendezvous rendezvous;
  rendezvous.Send(1, "k", Tensor(1));
  try {
    rendezvous.Send(1, "k", Tensor(1));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kAlreadyExists);
  }
}

TEST(RendezvousTest, CancellationNamesTheKeyThatNeverCame) {
  LocalRendezvous rendezvous;
  CancellationToken token;
  std::thread canceller([&] { token.Cancel(Status(Code::kDeadlineExceeded, "too late")); });
  try {
    rendezvous.Receive(7, "a;b;x:0", token);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kDeadlineExceeded);
    EXPECT_EQ(e.message(), "tensor 'a;b;x:0' of step 7 did not arrive: too late");
  }
  canceller.join();
  // Once cancelled: at once.
  EXPECT_THROW(rendezvous.Receive(8, "k", token), Error);
}

TEST(RendezvousTest, KeyNamesBothDevices) { EXPECT_EQ(RendezvousKey("a", "b", "x:0"), "a;b;x:0"); }

}  // namespace
}  // namespace sextant
