// Verification finds what it must, on whichever rank it is; rendezvous and bounded waits hold what
// they say.
#include "driver.hpp"

#include <gtest/gtest.h>

#include <mutex>

#include "arbench/signal.hpp"
#include "spmd.hpp"

namespace arbench {
namespace {

/// The right sum on every rank, then one flaw.
template <class Flaw>
struct Flawed {
  static constexpr bool kSpecialised = false;
  template <class T, int N, class E>
  void operator()(const E& ex, const Peers& p) const {
    const std::uint32_t epoch = begin_call(ex, p);
    if (!barrier(ex, p, ticket(epoch, 1))) return;
    auto* output = static_cast<T*>(p.output(ex.rank()));
    for (std::uint64_t i = 0; i < p.count; ++i) {
      float sum = 0;
      for (int r = 0; r < p.ranks; ++r) sum += to_float(static_cast<const T*>(p.input(r))[i]);
      output[i] = from_float<T>(sum);
    }
    if (!barrier(ex, p, ticket(epoch, 2))) return;
    Flaw::apply(ex.rank(), p, epoch, output);
    advance_call(ex, p, epoch);
  }
};

struct None {
  template <class T>
  static void apply(int, const Peers&, std::uint32_t, T*) {}
};
struct LastElementOfLastRank {
  template <class T>
  static void apply(int rank, const Peers& p, std::uint32_t, T* output) {
    if (rank == p.ranks - 1) output[p.count - 1] = from_float<T>(100);
  }
};
struct InputOverwritten {
  template <class T>
  static void apply(int rank, const Peers& p, std::uint32_t epoch, T*) {
    if (epoch % 3 != 2) return;  // at the last op of a replay, so that no sum is wrong
    static_cast<T*>(const_cast<void*>(p.input(rank)))[0] = from_float<T>(100);
  }
};
struct OneBehindTheEnd {
  template <class T>
  static void apply(int, const Peers& p, std::uint32_t, T* output) {
    output[p.count] = from_float<T>(1);
  }
};
struct OneBeforeTheStart {
  template <class T>
  static void apply(int, const Peers&, std::uint32_t, T* output) {
    output[-1] = from_float<T>(1);
  }
};
/// Right at the first three calls only, as a stale buffer under replay would be.
struct RightAtFirst {
  template <class T>
  static void apply(int, const Peers&, std::uint32_t epoch, T* output) {
    if (epoch >= 3) output[0] = from_float<T>(100);
  }
};

template <class Flaw>
void enlist(const char* name) {
  Algorithm record;
  record.name = name;
  record.hidden = true;
  record.geometry = [](const Case&, int) { return Geometry{1, 1}; };
  register_algorithm(Backend::host, kernel_algorithm<Flawed<Flaw>>(std::move(record)));
}

const bool registered = [] {
  enlist<None>("flaw_none");
  enlist<LastElementOfLastRank>("flaw_last_element");
  enlist<InputOverwritten>("flaw_input");
  enlist<OneBehindTheEnd>("flaw_behind");
  enlist<OneBeforeTheStart>("flaw_before");
  enlist<RightAtFirst>("flaw_later");
  return true;
}();

/// Per rank: what verification counts and says.
std::vector<Verified> verify(const std::string& algorithm) {
  EXPECT_TRUE(registered);
  const WorldConfig config = host_config(3);
  std::vector<Verified> all(3);
  on_all_drivers(config, [&](Driver& driver, int index) {
    driver.open(0, host_case(algorithm, config, Dtype::f32, 10, Mode::eager, {}));
    all[index] = driver.verify(0, 5);
    driver.close(0);
  });
  return all;
}

TEST(Verify, AcceptsWhatIsRight) {
  for (const Verified& rank : verify("flaw_none")) EXPECT_EQ(rank.wrong, 0u) << rank.text;
}

TEST(Verify, FindsOneElementOnTheLastRank) {
  const auto ranks = verify("flaw_last_element");
  EXPECT_EQ(ranks[0].wrong, 0u);
  EXPECT_EQ(ranks[2].wrong, 3u);  // one in each of three replays
  EXPECT_EQ(ranks[2].text, "rank 2, replay 0: 1 wrong, first output element 9");
}

TEST(Verify, FindsAnOverwrittenInput) {
  EXPECT_NE(verify("flaw_input")[1].text.find("input element (overwritten) 0"), std::string::npos);
}

TEST(Verify, FindsTouchedGuards) {
  EXPECT_NE(verify("flaw_behind")[0].text.find("guard byte around the output"), std::string::npos);
  EXPECT_NE(verify("flaw_before")[0].text.find("guard byte around the output"), std::string::npos);
}

TEST(Verify, FindsWhatGoesWrongLater) {
  EXPECT_EQ(verify("flaw_later")[0].text, "rank 0, replay 1: 1 wrong, first output element 0");
}

TEST(Open, RefusesMoreBlocksThanFit) {
  const WorldConfig config = host_config(2);
  EXPECT_THROW(on_all_drivers(config,
                              [&](Driver& driver, int) {
                                driver.open(0, host_case("one_shot_pull", config, Dtype::f32, 10,
                                                         Mode::eager, {100, 1}));
                              }),
               Refused);
}

TEST(Signals, CompareAcrossTheWrap) {
  EXPECT_TRUE(reached(5, 5));
  EXPECT_FALSE(reached(4, 5));
  EXPECT_TRUE(reached(3, 0xfffffff0u));
  EXPECT_FALSE(reached(0xfffffff0u, 3));
  EXPECT_EQ(ticket(1, 2), 4098u);
  EXPECT_TRUE(reached(ticket(1u << 20, 1), ticket((1u << 20) - 1, 4095)));
}

TEST(Rendezvous, GathersBytesAndKeepsTheFirstReason) {
  auto state = std::make_unique<RendezvousState>();
  std::mutex mutex;
  std::vector<std::string> reasons;
  const auto drive = [&](int index) {
    Rendezvous meeting(*state, index, 3, std::chrono::seconds(20));
    const auto all = meeting.all_gather(std::string(1, static_cast<char>(index)) + '\0' + "x");
    EXPECT_EQ(all[2], std::string("\2\0x", 3));
    if (index == 1) meeting.fail("rank 1 broke");
    try {
      meeting.barrier();
    } catch (const Stopped& stopped) {
      std::lock_guard lock(mutex);
      reasons.emplace_back(stopped.what());
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int index = 0; index < 3; ++index) threads.emplace_back(drive, index);
  }
  EXPECT_EQ(reasons, std::vector<std::string>(3, "rank 1 broke"));
}

TEST(Rendezvous, DoesNotWaitForEver) {
  auto state = std::make_unique<RendezvousState>();
  Rendezvous alone(*state, 0, 2, std::chrono::milliseconds(50));
  EXPECT_THROW(alone.barrier(), Stopped);
  EXPECT_THROW(alone.all_gather(std::string(1025, 'x')), std::length_error);
}

}  // namespace
}  // namespace arbench
