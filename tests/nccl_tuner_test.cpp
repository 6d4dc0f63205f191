// The tuner as NCCL calls it: found by name in this program, and through the plugin's functions on
// literal cost tables.
#include "nccl_tuner.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace arbench {
namespace {

constexpr int kProtocols = 3;
constexpr int kAllReduce = 4;  // ncclFuncAllReduce

/// NCCL's cost table by rows: tree, ring, CollNet direct and chain, NVLS, NVLS tree, then PAT from
/// 2.23 on; in each row LL, LL128, Simple. `x` marks what NCCL does not offer.
using Costs = std::vector<float>;
constexpr float x = -1;
const Costs kPcie{20.5F, x, 41, 17.25F, x, 33, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};

/// A communicator, as far as the tuner sees one.
class Communicator {
 public:
  Communicator() { EXPECT_EQ(ncclTunerPlugin_v4.init(8, 1, nullptr, &context_), 0); }
  ~Communicator() { EXPECT_EQ(ncclTunerPlugin_v4.destroy(context_), 0); }
  Communicator(const Communicator&) = delete;

  void enqueue(Costs& costs) {
    int channels = 0;
    auto** table = reinterpret_cast<float**>(costs.data());
    EXPECT_EQ(ncclTunerPlugin_v4.get_coll_info(context_, kAllReduce, 57344, 1, table,
                                               static_cast<int>(costs.size()) / kProtocols,
                                               kProtocols, 0, &channels),
              0);
    EXPECT_EQ(channels, 0) << "the number of channels is NCCL's choice";
  }
  const void* context() const { return context_; }

 private:
  void* context_ = nullptr;
};

/// What topoGetAlgoInfo takes in NCCL 2.22 to 2.30.
std::size_t taken_by_2_30(const Costs& costs) {
  float least = 3.6e9F;
  std::size_t entry = costs.size();
  for (std::size_t i = 0; i < costs.size(); ++i)
    if (costs[i] != x && costs[i] >= 0 && costs[i] < least) least = costs[entry = i];
  return entry;
}

/// What ncclTuningSelectBestTuning takes in NCCL 2.31 of what was offered before the tuner ran: it
/// knows no mark, and at equal costs it takes the last.
std::size_t taken_by_2_31(const Costs& offered, const Costs& costs) {
  float least = 3.4e38F;
  std::size_t entry = costs.size();
  for (std::size_t i = costs.size(); i-- > 0;)
    if (offered[i] != x && costs[i] < least) least = costs[entry = i];
  return entry;
}

/// One enqueue under `wish`: what NCCL takes afterwards, after checking that all NCCLs take the
/// same and that the observation tells the same; ", not the wish" is appended when that is noted.
std::string enqueue(NcclWish wish, Costs costs) {
  static constexpr std::array kRows{"tree", "ring", "direct", "chain", "nvls", "nvls_tree", "pat"};
  static constexpr std::array kColumns{"/ll", "/ll128", "/simple"};
  const Costs offered = costs;
  const NcclTunerScope scope(wish);
  Communicator().enqueue(costs);
  for (std::size_t i = 0; i < costs.size(); ++i) EXPECT_EQ(offered[i] == x, costs[i] == x) << i;
  const std::size_t taken = taken_by_2_30(costs);
  EXPECT_TRUE(wish == NcclWish::none || taken == taken_by_2_31(offered, costs));
  const std::string text = std::string(kRows.at(taken / kProtocols)) + kColumns[taken % kProtocols];
  EXPECT_EQ(scope.observation().text(), text);
  return text + (scope.observation().wish_missed() ? ", not the wish" : "");
}

TEST(NcclTuner, IsFoundByNccl) {
  void* program = dlopen(nullptr, RTLD_NOW | RTLD_LOCAL);  // what STATIC_PLUGIN makes NCCL do
  EXPECT_EQ(dlsym(program, "ncclTunerPlugin_v4"), &ncclTunerPlugin_v4) << "needs ENABLE_EXPORTS";
  EXPECT_EQ(dlsym(program, "ncclTunerPlugin_v3"), &ncclTunerPlugin_v3);
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "ncclTunerPlugin_v4"), &ncclTunerPlugin_v4);
  dlclose(program);
}

TEST(NcclTuner, ForcesTheWish) {
  EXPECT_EQ(enqueue(NcclWish::ring, kPcie), "ring/ll");
  EXPECT_EQ(enqueue(NcclWish::tree, kPcie), "tree/ll");
  EXPECT_EQ(enqueue(NcclWish::ring, {5, x, 9, 17, x, 33}), "ring/ll");
  EXPECT_EQ(enqueue(NcclWish::tree, {5, x, 9, 17, x, 33}), "tree/ll");
}

TEST(NcclTuner, ForcesAgainstAnythingElse) {
  const Costs nvlink{30, 25, 28, 40, 35, 50, x, x, x, x, x, 11, x, x, 8, x, x, 9, x, x, 1};
  EXPECT_EQ(enqueue(NcclWish::tree, nvlink), "tree/ll128");
  EXPECT_EQ(enqueue(NcclWish::ring, nvlink), "ring/ll128");
  EXPECT_EQ(enqueue(NcclWish::none, nvlink), "pat/simple");
}

TEST(NcclTuner, KeepsTheProtocolThatNcclPrefers) {
  EXPECT_EQ(enqueue(NcclWish::ring, {1, 2, 3, 90, 80, 70}), "ring/simple");
  EXPECT_EQ(enqueue(NcclWish::ring, {1, 2, 3, 90, 60, 70}), "ring/ll128");
}

TEST(NcclTuner, TakesTheOnlyProtocolThatIsEnabled) {
  EXPECT_EQ(enqueue(NcclWish::tree, {x, x, 400, 3, 4, 5}), "tree/simple");
  EXPECT_EQ(enqueue(NcclWish::none, {x, x, x, x, 7, x}), "ring/ll128");
}

TEST(NcclTuner, SaysWhatRunsWhenTheWishIsDisabled) {
  EXPECT_EQ(enqueue(NcclWish::tree, {x, x, x, 20, x, 9}), "ring/simple, not the wish");
  EXPECT_EQ(enqueue(NcclWish::ring, {20, x, 9, x, x, x}), "tree/simple, not the wish");
  EXPECT_EQ(enqueue(NcclWish::ring, {20, x, 9}), "tree/simple, not the wish");
}

TEST(NcclTuner, ChangesNothingWithoutAWishOrWhenItIsDisabled) {
  const auto changed = [](NcclWish wish, Costs costs) {
    const NcclTunerScope scope(wish);
    Communicator().enqueue(costs);
    return costs;
  };
  EXPECT_EQ(changed(NcclWish::none, kPcie), kPcie);
  EXPECT_EQ(changed(NcclWish::tree, {x, x, x, 20, x, 9}), (Costs{x, x, x, 20, x, 9}));
}

TEST(NcclTuner, ResolvesTies) {
  EXPECT_EQ(enqueue(NcclWish::ring, {10, 10, 10, 10, 10, 10}), "ring/ll");
  EXPECT_EQ(enqueue(NcclWish::tree, {10, 10, 10, 10, 10, 10}), "tree/ll");
  EXPECT_EQ(enqueue(NcclWish::none, {10, 10, 10, 10, 10, 10}), "tree/ll");
  EXPECT_EQ(enqueue(NcclWish::ring, {0, 0, 0, 0, 0, 0}), "ring/ll");
}

TEST(NcclTuner, SaysUnverifiedWhenNothingIsKnown) {
  const NcclTunerScope scope(NcclWish::ring);
  Communicator communicator;
  EXPECT_EQ(scope.observation().text(), "unverified");
  EXPECT_FALSE(scope.observation().wish_missed());
  Costs nothing{x, x, x, x, x, x};
  communicator.enqueue(nothing);
  EXPECT_EQ(scope.observation().text(), "unverified");
  EXPECT_TRUE(scope.observation().wish_missed());
}

TEST(NcclTuner, TellsTheLatestEnqueue) {
  const NcclTunerScope scope(NcclWish::none);
  Communicator communicator;
  Costs small{10, x, 20, 15, x, 30}, large{100, x, 90, 150, x, 80};
  communicator.enqueue(small);
  EXPECT_EQ(scope.observation().text(), "tree/ll");
  communicator.enqueue(large);
  EXPECT_EQ(scope.observation().text(), "ring/simple");
  Costs of_later_version(27, x);
  of_later_version.back() = 5;
  communicator.enqueue(of_later_version);
  EXPECT_EQ(scope.observation().text(), "number8/simple");
}

TEST(NcclTuner, OlderInterfaceDoesTheSame) {
  Costs costs{5, x, 9, 17, x, 33};
  const NcclTunerScope scope(NcclWish::ring);
  void* context = nullptr;
  int channels = 0;
  ASSERT_EQ(ncclTunerPlugin_v3.init(8, 1, nullptr, &context), 0);
  auto** table = reinterpret_cast<float**>(costs.data());
  ncclTunerPlugin_v3.get_coll_info(context, kAllReduce, 57344, 1, table, 2, kProtocols, &channels);
  EXPECT_EQ(taken_by_2_30(costs), 3U);
  EXPECT_EQ(scope.observation().text(), "ring/ll");
  EXPECT_EQ(ncclTunerPlugin_v3.destroy(context), 0);
}

TEST(NcclTuner, KeepsCommunicatorsApart) {
  auto ring_scope = std::make_unique<NcclTunerScope>(NcclWish::ring);
  const NcclObservation& ring = ring_scope->observation();
  Communicator ring_communicator;
  ring_scope.reset();
  const NcclTunerScope tree_scope(NcclWish::tree);
  Communicator tree_communicator;
  Costs costs = kPcie;
  tree_communicator.enqueue(costs);
  EXPECT_EQ(ring.text(), "unverified");
  costs = kPcie;
  ring_communicator.enqueue(costs);
  EXPECT_EQ(ring.text(), "ring/ll");
  EXPECT_EQ(tree_scope.observation().text(), "tree/ll");
}

TEST(NcclTuner, LeavesCommunicatorsOutsideOfScopesAlone) {
  Communicator communicator;
  EXPECT_EQ(communicator.context(), nullptr);
  Costs costs = kPcie;
  communicator.enqueue(costs);
  EXPECT_EQ(costs, kPcie);
}

TEST(NcclTuner, RefusesTwoWishesAtOnce) {
  const NcclTunerScope scope(NcclWish::ring);
  EXPECT_THROW(NcclTunerScope{NcclWish::tree}, std::logic_error);
  const NcclTunerScope same(NcclWish::ring);
  EXPECT_EQ(&same.observation(), &scope.observation());
}

/// Rank threads that open case after case, meeting before and after a communicator is made; nothing
/// else keeps them together, so some are still leaving a scope while others enter the next.
TEST(NcclTuner, RankThreadsShareOneScopePerCase) {
  constexpr int kRanks = 4, kCases = 300;
  constexpr std::array kWishes{NcclWish::none, NcclWish::ring, NcclWish::tree};
  std::vector<std::array<const void*, kRanks>> contexts(kCases);
  std::barrier meeting(kRanks);
  const auto rank_thread = [&](std::size_t rank) {
    for (std::size_t i = 0; i < kCases; ++i) {
      const NcclTunerScope scope(kWishes[i % kWishes.size()]);
      meeting.arrive_and_wait();
      Communicator communicator;
      Costs costs = kPcie;
      communicator.enqueue(costs);
      contexts[i][rank] = communicator.context();
      EXPECT_EQ(scope.observation().text(), i % 3 == 2 ? "tree/ll" : "ring/ll");
      meeting.arrive_and_wait();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < kRanks; ++rank) threads.emplace_back(rank_thread, rank);
  }
  for (const auto& of_case : contexts)
    for (const void* context : of_case) EXPECT_EQ(context, of_case[0]);
  for (std::size_t i = 1; i < kCases; ++i) EXPECT_NE(contexts[i][0], contexts[i - 1][0]);
}

TEST(NcclTuner, YieldsToAPluginOfTheUser) {
  const char* name = "NCCL_TUNER_PLUGIN";
  setenv(name, "/opt/mine.so", 1);
  offer_nccl_tuner();
  EXPECT_STREQ(std::getenv(name), "/opt/mine.so");
  unsetenv(name);
  offer_nccl_tuner();
  EXPECT_STREQ(std::getenv(name), "STATIC_PLUGIN");
  unsetenv(name);
}

}  // namespace
}  // namespace arbench
