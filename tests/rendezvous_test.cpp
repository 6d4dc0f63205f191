#include "rendezvous.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <thread>

namespace arbench {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using Texts = std::vector<std::string>;

/// Calls body(rendezvous, index) on a thread per driver.
template <class Body>
void meet(RendezvousState& state, int drivers, std::chrono::nanoseconds patience, Body body) {
  std::vector<std::jthread> threads;
  for (int index = 0; index < drivers; ++index)
    threads.emplace_back([&, index] {
      Rendezvous rendezvous(state, index, drivers, patience);
      body(rendezvous, index);
    });
}

/// What Stopped says, or "nothing thrown".
template <class What>
std::string stopped(What what) {
  try {
    what();
  } catch (const Stopped& reason) {
    return reason.what();
  }
  return "nothing thrown";
}

class RendezvousTest : public testing::Test {
 protected:
  const std::unique_ptr<RendezvousState> state = std::make_unique<RendezvousState>();
};

TEST_F(RendezvousTest, OneDriverWaitsForNobody) {
  Rendezvous alone(*state, 0, 1, 20s);
  alone.barrier();
  EXPECT_EQ(alone.all_gather("mine"), (Texts{"mine"}));
  alone.barrier();
}

TEST_F(RendezvousTest, ABarrierOrdersWhatComesBeforeIt) {
  std::array<int, 4> turns{};  // plain memory: a missing order is ThreadSanitizer's to report
  meet(*state, 4, 20s, [&](Rendezvous& rendezvous, int index) {
    for (int turn = 1; turn <= 100; ++turn) {
      turns[index] = turn;
      rendezvous.barrier();
      EXPECT_EQ(turns, (std::array<int, 4>{turn, turn, turn, turn}));
      rendezvous.barrier();
    }
  });
}

TEST_F(RendezvousTest, AllGatherGivesTheTextsInDriverOrder) {
  meet(*state, 3, 20s, [&](Rendezvous& rendezvous, int index) {
    const Texts first{"zero", "", "two"};
    EXPECT_EQ(rendezvous.all_gather(first[index]), first);
    const Texts second{"", "1", ""};  // shorter ones leave nothing of the longer ones before
    EXPECT_EQ(rendezvous.all_gather(second[index]), second);
  });
}

TEST_F(RendezvousTest, AllGatherTakesAnyBytes) {
  meet(*state, 2, 20s, [&](Rendezvous& rendezvous, int index) {
    const Texts texts{"\0a\0\xff\n"s, "\0"s};
    EXPECT_EQ(rendezvous.all_gather(texts[index]), texts);
  });
}

TEST_F(RendezvousTest, ATextMayHave1024BytesAndNotOneMore) {
  Rendezvous alone(*state, 0, 1, 20s);
  EXPECT_EQ(alone.all_gather(std::string(1024, 'x')), (Texts{std::string(1024, 'x')}));
  EXPECT_THROW(alone.all_gather(std::string(1025, 'x')), std::length_error);
  EXPECT_EQ(alone.all_gather("still usable"), (Texts{"still usable"}));
}

TEST_F(RendezvousTest, AFailureReachesThoseWhoWait) {
  std::array<std::string, 3> reasons;
  meet(*state, 3, 20s, [&](Rendezvous& rendezvous, int index) {
    if (index == 1) {
      rendezvous.fail("rank 1 fell over");
      rendezvous.fail("and is not up yet");
    }
    reasons[index] = stopped([&] { rendezvous.barrier(); });
  });
  EXPECT_EQ(reasons, (std::array<std::string, 3>{"rank 1 fell over", "rank 1 fell over",
                                                 "rank 1 fell over"}));
}

TEST_F(RendezvousTest, AFailureReachesThoseWhoComeLater) {
  Rendezvous(*state, 1, 2, 20s).fail("first");
  Rendezvous(*state, 0, 2, 20s).fail("second");
  Rendezvous late(*state, 0, 2, 20s);
  EXPECT_EQ(stopped([&] { late.barrier(); }), "first");
  EXPECT_EQ(stopped([&] { late.all_gather("text"); }), "first");
}

TEST_F(RendezvousTest, ALongReasonIsCut) {
  Rendezvous alone(*state, 0, 1, 20s);
  alone.fail(std::string(5000, 'x'));
  EXPECT_EQ(stopped([&] { alone.barrier(); }), std::string(1023, 'x'));
}

TEST_F(RendezvousTest, PatienceEnds) {
  Rendezvous early(*state, 0, 2, 10ms);
  EXPECT_EQ(stopped([&] { early.barrier(); }), "driver 0 waited in vain for the others");
  Rendezvous late(*state, 1, 2, 20s);
  EXPECT_EQ(stopped([&] { late.barrier(); }), "driver 0 waited in vain for the others");
}

TEST_F(RendezvousTest, ProcessesMeetLikeThreads) {
  void* memory = mmap(nullptr, sizeof(RendezvousState), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& shared = *static_cast<RendezvousState*>(memory);
  const pid_t child = fork();
  if (child == 0) {
    const Texts all = Rendezvous(shared, 1, 2, 20s).all_gather("child");
    _exit(all == Texts{"parent", "child"} ? 0 : 1);
  }
  EXPECT_EQ(Rendezvous(shared, 0, 2, 20s).all_gather("parent"), (Texts{"parent", "child"}));
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  munmap(memory, sizeof(RendezvousState));
}

}  // namespace
}  // namespace arbench
