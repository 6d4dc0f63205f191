// The host backend's memory and stream: what driver and kernels rely on.
#include <gtest/gtest.h>

#include <cstring>
#include <mutex>
#include <set>
#include <tuple>

#include "arbench/algorithm.hpp"
#include "device.hpp"
#include "forked.hpp"

namespace arbench {
namespace {

class HostDeviceTest : public testing::Test {
 protected:
  void launch(int blocks, int threads, std::function<void(const Exec&)> body, int first_rank = 0,
              int ranks = 1) {
    static_cast<HostQueue&>(queue).enqueue({{blocks, threads}, first_rank, ranks, std::move(body)});
  }
  /// Enqueues a step that appends `letter` to the order in which steps ran.
  void step(char letter) {
    launch(1, 1, [this, letter](const Exec&) { order += letter; });
  }
  bool finish() { return stream->finish({}); }

  const std::unique_ptr<Device> device = Device::open(Backend::host, 0, true);
  const std::unique_ptr<Stream> stream = device->stream();
  Queue& queue = stream->queue();
  char* const memory = static_cast<char*>(device->allocate(64));
  std::string order;
};

TEST_F(HostDeviceTest, NothingRunsBeforeItIsWaitedFor) {
  step('a');
  EXPECT_EQ(order, "");
  EXPECT_TRUE(finish());
  EXPECT_EQ(order, "a");
  EXPECT_TRUE(finish());
  EXPECT_EQ(order, "a");
}

TEST_F(HostDeviceTest, AStreamRunsInOrder) {
  char seen[3] = {};
  const auto look = [&](int i) { launch(1, 1, [&, i](const Exec&) { seen[i] = memory[1]; }); };
  queue.fill(memory, 'x', 2);
  look(0);
  queue.fill(memory, 'y', 1);
  queue.copy(memory + 1, memory, 1);
  look(1);
  queue.lane(1).fill(memory, 'z', 2);
  queue.join();
  look(2);
  finish();
  EXPECT_EQ(std::string(seen, 3), "xyz");
}

TEST_F(HostDeviceTest, AnOperationStartsWhenAllThreadsOfTheOneBeforeAreDone) {
  int done[8] = {};  // plain memory: a missing order is ThreadSanitizer's to report
  int sum = 0;
  for (int turn = 0; turn < 20; ++turn) {
    launch(4, 2, [&](const Exec& ex) { ++done[ex.block() * 2 + ex.thread()]; });
    launch(1, 1, [&](const Exec&) {
      for (const int count : done) sum += count;
    });
  }
  finish();
  EXPECT_EQ(sum, 1680);
}

TEST_F(HostDeviceTest, ALaunchIsBlocksTimesThreadsOnEachRank) {
  std::mutex mutex;
  std::set<std::tuple<int, int, int>> seen;
  launch(
      2, 3,
      [&](const Exec& ex) {
        std::lock_guard lock(mutex);
        EXPECT_EQ(ex.blocks(), 2);
        EXPECT_EQ(ex.threads(), 3);
        EXPECT_TRUE(seen.insert({ex.rank(), ex.block(), ex.thread()}).second);
      },
      1, 2);
  finish();
  EXPECT_EQ(seen, (std::set<std::tuple<int, int, int>>{{1, 0, 0},
                                                       {1, 0, 1},
                                                       {1, 0, 2},
                                                       {1, 1, 0},
                                                       {1, 1, 1},
                                                       {1, 1, 2},
                                                       {2, 0, 0},
                                                       {2, 0, 1},
                                                       {2, 0, 2},
                                                       {2, 1, 0},
                                                       {2, 1, 1},
                                                       {2, 1, 2}}));
}

TEST_F(HostDeviceTest, ABlockSynchronisesItsOwnThreads) {
  int words[2][3] = {};
  launch(2, 3, [&](const Exec& ex) {
    for (int turn = 1; turn <= 20; ++turn) {
      words[ex.block()][ex.thread()] = turn;
      ex.sync_block();
      for (const int word : words[ex.block()]) EXPECT_EQ(word, turn);
      EXPECT_TRUE(ex.sync_block_any(ex.thread() == turn % 3));
      EXPECT_FALSE(ex.sync_block_any(false));
    }
  });
  finish();
}

TEST_F(HostDeviceTest, ACaptureRunsWhenItIsReplayed) {
  stream->begin_capture();
  step('a');
  step('b');
  const auto graph = stream->end_capture();
  finish();
  EXPECT_EQ(order, "");
  stream->replay(*graph);
  step('-');
  stream->replay(*graph);
  finish();
  EXPECT_EQ(order, "ab-ab");
}

TEST_F(HostDeviceTest, ACaptureLeavesWhatWasEnqueuedBefore) {
  step('a');
  stream->begin_capture();
  step('b');
  const auto graph = stream->end_capture();
  step('c');
  finish();
  EXPECT_EQ(order, "ac");
}

TEST_F(HostDeviceTest, AnAbandonedCaptureLeavesNothing) {
  stream->begin_capture();
  step('a');
  stream->abandon_capture();
  step('b');
  stream->begin_capture();
  step('c');
  const auto graph = stream->end_capture();
  stream->replay(*graph);
  finish();
  EXPECT_EQ(order, "bc");
}

TEST_F(HostDeviceTest, StampsAreTakenInOrder) {
  stream->record(0);
  step('a');
  stream->record(5);
  stream->record(1);
  finish();
  EXPECT_GE(stream->elapsed_us(0, 5), 0);
  EXPECT_GE(stream->elapsed_us(5, 1), 0);
  EXPECT_GE(stream->elapsed_us(0, 1), stream->elapsed_us(0, 5));
  EXPECT_EQ(stream->elapsed_us(1, 1), 0);
}

TEST_F(HostDeviceTest, ReadWaitsForWhatWasEnqueued) {
  queue.fill(memory, 'r', 4);
  char text[5] = {};
  stream->read(text, memory, 4);
  EXPECT_STREQ(text, "rrrr");
}

TEST_F(HostDeviceTest, RefusesWhatDoesNotFit) {
  try {
    device->allocate(std::uint64_t{1} << 60);
    FAIL() << "no machine has that much";
  } catch (const Refused& refused) {
    EXPECT_EQ(std::string(refused.what()).substr(0, 48),
              "needs 1152921504606846976 bytes of host memory, ");
  }
  EXPECT_NE(device->allocate(64), nullptr);
}

TEST_F(HostDeviceTest, MemoryOfTheSameProcessIsTheAddressItself) {
  const auto other = Device::open(Backend::host, 1, true);
  EXPECT_EQ(other->import_memory(device->export_memory(memory)), memory);
  other->forget(memory);
  memory[0] = 'm';  // still mapped: forgetting is the importer's business
}

TEST_F(HostDeviceTest, AnotherProcessSeesTheWrites) {
  const MemoryHandle handle = device->export_memory(memory);
  EXPECT_EQ(handle.bytes, 64u);
  std::strcpy(memory, "from the parent");
  const Answer answer = ask_child("child", std::chrono::seconds(20), [&] {
    std::strcpy(memory, "by inheritance");  // the same pages: mapped before the fork
    const auto other = Device::open(Backend::host, 1, true);
    char* imported = static_cast<char*>(other->import_memory(handle));
    if (imported == memory) return std::string("not mapped anew");
    const std::string seen = imported;
    std::strcpy(imported, "from the child");
    other->forget(imported);
    return seen;
  });
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(answer.text, "by inheritance");
  EXPECT_STREQ(memory, "from the child");
}

TEST_F(HostDeviceTest, AllocationsAreZeroAndApart) {
  char* other = static_cast<char*>(device->allocate(64));
  EXPECT_EQ(std::string(other, 64), std::string(64, '\0'));
  std::memset(other, 1, 64);
  EXPECT_EQ(std::string(memory, 64), std::string(64, '\0'));
  device->release(other);
}

}  // namespace
}  // namespace arbench
