#include "nccl_tuner.hpp"

#include <array>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <stdexcept>

namespace arbench {
namespace {

constexpr int kNothing = -1;
constexpr int kSuccess = 0;  // ncclSuccess

/// The entry of [first, last) that NCCL takes: the lowest that is available. Of equal ones the
/// first, as in topoGetAlgoInfo of src/enqueue.cc up to NCCL 2.30 (2.31 takes the last).
int cheapest(const float* costs, int first, int last) {
  int best = kNothing;
  for (int i = first; i < last; ++i)
    if (costs[i] >= 0 && (best == kNothing || costs[i] < costs[best])) best = i;
  return best;
}

/// Makes `entry` the strictly lowest. Entries that are not available keep their mark, and no other
/// gets it: up to 2.30 NCCL skips what is marked, but 2.31 (src/tuning/tuning.cc) takes the lowest
/// number of what it had offered, so that a mark of ours would win.
void prefer(float* costs, int entries, int entry) {
  for (int i = 0; i < entries; ++i)
    if (costs[i] >= 0) costs[i] += 1;
  costs[entry] = 0;
}

template <std::size_t N>
std::string name_of(const std::array<const char*, N>& names, int index) {
  if (index < static_cast<int>(N)) return names[static_cast<std::size_t>(index)];
  return "number" + std::to_string(index);
}

/// The scope that stands in this process. Observations are kept: NCCL may hold their addresses.
struct Scopes {
  std::mutex mutex;
  std::deque<NcclObservation> all;
  NcclObservation* current = nullptr;
};

Scopes& scopes() {
  static Scopes scopes;
  return scopes;
}

NcclObservation& enter(NcclWish wish) {
  const std::lock_guard lock(scopes().mutex);
  if (scopes().current == nullptr) scopes().current = &scopes().all.emplace_back(wish);
  if (scopes().current->wish() != wish)
    throw std::logic_error("rank threads of one process open different NCCL cases");
  return *scopes().current;
}

int init(std::size_t, std::size_t, NcclLogger, void** context) noexcept {
  const std::lock_guard lock(scopes().mutex);
  *context = scopes().current;
  return kSuccess;
}

int destroy(void*) noexcept { return kSuccess; }

int get_coll_info_v4(void* context, int, std::size_t, int, float** costs, int algorithms,
                     int protocols, int, int*) noexcept {
  if (context != nullptr)  // else the communicator is none of ours
    static_cast<NcclObservation*>(context)->decide(reinterpret_cast<float*>(costs), algorithms,
                                                   protocols);
  return kSuccess;
}

int get_coll_info_v3(void* context, int function, std::size_t bytes, int pipelined_ops,
                     float** costs, int algorithms, int protocols, int* channels) noexcept {
  return get_coll_info_v4(context, function, bytes, pipelined_ops, costs, algorithms, protocols, 0,
                          channels);
}

}  // namespace

void NcclObservation::decide(float* costs, int algorithms, int protocols) noexcept {
  const int entries = algorithms * protocols;
  int entry = cheapest(costs, 0, entries);
  Taken taken;
  if (wish_ != NcclWish::none) {
    const int first = static_cast<int>(wish_) * protocols;
    const int wished = first < entries ? cheapest(costs, first, first + protocols) : kNothing;
    taken.wish_missed = wished == kNothing;
    if (!taken.wish_missed) {
      prefer(costs, entries, wished);
      entry = wished;
    }
  }
  if (entry != kNothing) {
    taken.algorithm = static_cast<std::int16_t>(entry / protocols);
    taken.protocol = static_cast<std::int8_t>(entry % protocols);
  }
  taken_.store(taken, std::memory_order_relaxed);
}

std::string NcclObservation::text() const {
  // NCCL_ALGO_* and NCCL_PROTO_* of src/include/nccl_common.h and nccl_tuner.h, 2.22 to 2.32.
  static constexpr std::array algorithms{
      "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"};
  static constexpr std::array protocols{"ll", "ll128", "simple"};
  const Taken taken = taken_.load(std::memory_order_relaxed);
  if (taken.algorithm < 0) return "unverified";
  return name_of(algorithms, taken.algorithm) + "/" + name_of(protocols, taken.protocol);
}

NcclTunerScope::NcclTunerScope(NcclWish wish) : observation_(enter(wish)) {}

NcclTunerScope::~NcclTunerScope() {
  const std::lock_guard lock(scopes().mutex);
  // A rank thread that is ahead may have left this scope and entered the next one already.
  if (scopes().current == &observation_) scopes().current = nullptr;
}

void offer_nccl_tuner() { setenv("NCCL_TUNER_PLUGIN", "STATIC_PLUGIN", 0); }

}  // namespace arbench

extern "C" {
constinit const arbench::NcclTunerV3 ncclTunerPlugin_v3{
    "arbench", arbench::init, arbench::get_coll_info_v3, arbench::destroy};
constinit const arbench::NcclTunerV4 ncclTunerPlugin_v4{
    "arbench", arbench::init, arbench::get_coll_info_v4, arbench::destroy};
}
