// The whole way from cases to rows, with worker processes, on the host backend: what fails becomes
// a row of its own, and its neighbours are measured all the same.
#include "runner.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <csignal>

#include "arbench/algorithm.hpp"
#include "arbench/signal.hpp"
#include "spmd.hpp"
#include "world.hpp"

namespace arbench {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kThreadSanitizer = true;
#else
constexpr bool kThreadSanitizer = false;
#endif

/// Shared with worker processes: what the recording algorithm was asked to do.
struct Log {
  std::atomic<int> enqueued;
};

Log& log() {
  static Log* shared = static_cast<Log*>(
      mmap(nullptr, sizeof(Log), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  return *shared;
}

/// A hidden algorithm of host code alone: `act` is called at each enqueue with the rank and how
/// often it was called.
Algorithm scripted(const std::string& name, std::function<void(int rank, int call)> act) {
  Algorithm record = *find_algorithm(Backend::host, "one_shot_pull");
  record.name = name;
  record.hidden = true;
  const auto open = record.open;
  record.open = [open, act](const OpenContext& context) {
    Op op = open(context);
    op.enqueue = [enqueue = op.enqueue, act, rank = context.peers.first_rank,
                  call = 0](Queue& queue) mutable {
      act(rank, ++call);
      enqueue(queue);
    };
    return op;
  };
  return record;
}

/// Writes nothing.
struct Nothing {
  static constexpr bool kSpecialised = false;
  template <class T, int N, class E>
  void operator()(const E&, const Peers&) const {}
};

/// Rank 1 never comes.
struct Absent {
  static constexpr bool kSpecialised = false;
  template <class T, int N, class E>
  void operator()(const E& ex, const Peers& p) const {
    if (ex.rank() != 1) barrier(ex, p, ticket(begin_call(ex, p), 1));
  }
};

template <class Kernel>
Algorithm broken(const std::string& name) {
  Algorithm record;
  record.name = name;
  record.hidden = true;
  record.geometry = [](const Case&, int) { return Geometry{1, 1}; };
  return kernel_algorithm<Kernel>(std::move(record));
}

const bool registered = [] {
  register_algorithm(Backend::host, scripted("test_throws", [](int rank, int call) {
                       if (rank == 1 && call == 2) throw std::runtime_error("rank 1 is out");
                     }));
  register_algorithm(Backend::host, broken<Nothing>("test_nothing"));
  register_algorithm(Backend::host, broken<Absent>("test_absent"));
  register_algorithm(Backend::host, scripted("test_counts", [](int rank, int) {
                       if (rank == 0) log().enqueued.fetch_add(1);
                     }));
  register_algorithm(Backend::host, scripted("test_dies", [](int rank, int call) {
                       if (rank == 1 && call == 2) std::raise(SIGKILL);
                     }));
  register_algorithm(Backend::host, scripted("test_refuses_capture", [](int rank, int) {
                       if (rank == 1) throw std::runtime_error("no capture on rank 1");
                     }));
  return true;
}();

Options quick() {
  Options options;
  options.rounds = 2;
  options.replays = 4;
  options.ops = 3;
  options.row_seconds = 60;  // never the limit here: every round has all replays
  options.timeout_seconds = 1;
  return options;
}

std::vector<Row> rows_of(const std::vector<std::string>& algorithms, Launch launch, Mode mode,
                         std::uint64_t count = 1000) {
  WorldConfig config = host_config(3, launch);
  if (launch == Launch::grid) config.devices = {0, 0, 0};
  std::vector<Case> cases;
  for (const auto& name : algorithms)
    cases.push_back(host_case(name, config, Dtype::f32, count, mode, {}));
  std::vector<Row> rows;
  run(cases, quick(), Machine{},
      {[&](const Row& row, const std::vector<Sample>& samples) {
         EXPECT_EQ(samples.size(), row.time ? 8u : 0u);
         rows.push_back(row);
       },
       {}});
  return rows;
}

void expect_failure_between_neighbours(const std::string& name, Launch launch, Mode mode,
                                       Status status, const std::string& reason) {
  ASSERT_TRUE(registered);
  const auto rows = rows_of({"one_shot_pull", name, "ring_simple"}, launch, mode);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].status, Status::ok) << rows[0].reason;
  EXPECT_EQ(rows[1].status, status) << rows[1].reason;
  EXPECT_NE(rows[1].reason.find(reason), std::string::npos) << rows[1].reason;
  EXPECT_FALSE(rows[1].time.has_value());
  EXPECT_EQ(rows[2].status, Status::ok) << rows[2].reason;
  EXPECT_TRUE(rows[2].time.has_value());
}

class Runner : public testing::TestWithParam<Launch> {};

TEST_P(Runner, MeasuresEveryKernelAlgorithm) {
  const auto rows = rows_of({"one_shot_pull", "one_shot_push", "ring_simple", "two_shot_pull"},
                            GetParam(), Mode::graph);
  ASSERT_EQ(rows.size(), 4u);
  for (const Row& row : rows) {
    EXPECT_EQ(row.status, Status::ok) << row.reason;
    EXPECT_EQ(row.wrong, 0u);
    ASSERT_TRUE(row.time.has_value());
    EXPECT_EQ(row.time->samples, 8);
    EXPECT_GT(row.time->median, 0);
  }
}

TEST_P(Runner, WrongDataShowsNoTime) {
  expect_failure_between_neighbours("test_nothing", GetParam(), Mode::graph, Status::wrong,
                                    "wrong, first output element 0");
}

TEST_P(Runner, ARankThatNeverComesIsAHungRow) {
  expect_failure_between_neighbours("test_absent", GetParam(), Mode::eager, Status::hung,
                                    "waited in vain for rank 1 in block 0");
}

INSTANTIATE_TEST_SUITE_P(Launches, Runner,
                         testing::Values(Launch::threads, Launch::processes, Launch::grid),
                         [](const auto& info) { return std::string(word(info.param)); });

TEST(Containment, AKilledWorkerIsARowThatNamesRankAndSignal) {
  expect_failure_between_neighbours("test_dies", Launch::processes, Mode::eager, Status::error,
                                    "the worker of rank 1 was ended by signal 9");
}

/// Rank 0 waits in vain for the rank that failed: the row tells the cause, not the consequence.
TEST(Containment, AnExceptionIsARowWithItsText) {
  for (const Launch launch : {Launch::threads, Launch::processes})
    expect_failure_between_neighbours("test_throws", launch, Mode::eager, Status::error,
                                      "rank 1 is out");
}

TEST(Containment, ARefusedCaptureHasTheOriginalTextWhoeverRefused) {
  for (const Launch launch : {Launch::threads, Launch::processes})
    expect_failure_between_neighbours("test_refuses_capture", launch, Mode::graph,
                                      Status::unsupported, "no capture on rank 1");
}

/// Eager, 3 ops: verify 3 x 3, warm-up 5 x 3, 2 rounds x 4 replays x 3, verify 3 x 3.
TEST(Schedule, EnqueuesExactlyWhatItSays) {
  log().enqueued = 0;
  const auto rows = rows_of({"test_counts"}, Launch::threads, Mode::eager);
  EXPECT_EQ(rows.at(0).status, Status::ok) << rows.at(0).reason;
  EXPECT_EQ(log().enqueued.load(), 57);
}

/// Captured once, replayed ever after.
TEST(Schedule, CapturesOneGraphOfKOps) {
  log().enqueued = 0;
  const auto rows = rows_of({"test_counts"}, Launch::threads, Mode::graph);
  EXPECT_EQ(rows.at(0).status, Status::ok) << rows.at(0).reason;
  EXPECT_EQ(log().enqueued.load(), 3);
}

TEST(Rows, NothingToReduceHasNoTime) {
  const auto rows = rows_of({"one_shot_pull"}, Launch::threads, Mode::graph, 0);
  EXPECT_EQ(rows.at(0).status, Status::ok);
  EXPECT_EQ(rows.at(0).reason, "0 bytes: nothing to time");
  EXPECT_FALSE(rows.at(0).time.has_value());
}

TEST(Rows, WhatCannotRunSaysWhy) {
  EXPECT_EQ(rows_of({"nccl_ring"}, Launch::threads, Mode::graph).at(0).reason,
            "needs the CUDA backend");
  EXPECT_EQ(rows_of({"p2p_copy_ring"}, Launch::grid, Mode::graph).at(0).reason,
            "is not one kernel: no grid launch");
}

TEST(Rows, AnInterruptEndsTheRun) {
  if (kThreadSanitizer) GTEST_SKIP() << "raises a signal while ThreadSanitizer's runtime waits";
  interrupted = 1;
  EXPECT_THROW(rows_of({"one_shot_pull"}, Launch::threads, Mode::graph), Interrupted);
  interrupted = 0;
}

TEST(ExitCode, IsThatOfTheWorstRow) {
  Row ok, skipped, hung, wrong, error;
  skipped.status = Status::skipped;
  hung.status = Status::hung;
  wrong.status = Status::wrong;
  error.status = Status::error;
  EXPECT_EQ(exit_code({ok, skipped}), 0);
  EXPECT_EQ(exit_code({ok, error}), 8);
  EXPECT_EQ(exit_code({error, hung}), 4);
  EXPECT_EQ(exit_code({hung, wrong}), 7);
}

}  // namespace
}  // namespace arbench
