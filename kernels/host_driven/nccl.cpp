// NCCL's allreduce, the incumbent: nccl_auto takes what NCCL would choose, nccl_ring and nccl_tree
// hold their communicator to one algorithm by NCCL's tuner interface (see nccl_tuner.hpp) and leave
// the protocol to NCCL. The user's NCCL_* environment applies to all three.
// One communicator per record and open. Compiled by the host compiler: nothing here is device code.
#include <chrono>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "arbench/algorithm.hpp"
#include "arbench/cuda_queue.hpp"
#include "nccl_library.hpp"
#include "nccl_tuner.hpp"

namespace arbench {
namespace {

struct Nccl {
  NcclLibrary library;
  NcclApi api;
};

/// NCCL of this process, loaded when the first case is opened and kept for good.
const Nccl& nccl() {
  static const Nccl loaded = [] {
    offer_nccl_tuner();
    Nccl nccl{open_nccl(), {}};
    if (nccl.library) nccl.api = nccl_api(nccl.library);
    return nccl;
  }();
  return loaded;
}

std::string error_text(const char* call, ncclResult_t result) {
  const NcclApi& api = nccl().api;
  std::string text = std::string(call) + ": " + api.get_error_string(result);
  const char* last = api.get_last_error != nullptr ? api.get_last_error(nullptr) : nullptr;
  if (last != nullptr && *last != 0) text += " (" + std::string(last) + ")";
  return text;
}

/// Everyone's payload, in rank order. When any rank has an error, throws it on all of them alike.
std::vector<std::string> exchange(const OpenContext& context, const std::string& error,
                                  const std::string& payload) {
  constexpr std::size_t kLongest = 900;  // a gathered text holds 1024 bytes
  auto texts = context.all_gather(error.empty() ? "+" + payload : "-" + error.substr(0, kLongest));
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    if (texts[rank].front() == '-')
      throw Refused("rank " + std::to_string(rank) + ": " + texts[rank].substr(1));
    texts[rank].erase(0, 1);
  }
  return texts;
}

/// Rank 0 makes the id, and every rank learns it, or that some rank cannot use NCCL at all.
ncclUniqueId common_id(const OpenContext& context) {
  ncclUniqueId id{};
  std::string error, bytes;
  if (!nccl().library)
    error = "NCCL cannot be used; name another with --nccl-lib: " + nccl().library.error;
  if (error.empty() && context.peers.first_rank == 0) {
    const ncclResult_t result = nccl().api.get_unique_id(&id);
    if (result != ncclSuccess) error = error_text("ncclGetUniqueId", result);
    bytes.assign(id.internal, sizeof id.internal);
  }
  const std::string first = exchange(context, error, bytes).front();
  std::memcpy(id.internal, first.data(), sizeof id.internal);
  return id;
}

ncclDataType_t nccl_type(Dtype dtype) {
  if (dtype == Dtype::f16) return ncclFloat16;
  return dtype == Dtype::bf16 ? ncclBfloat16 : ncclFloat32;
}

/// One rank's communicator and what it reduces. Belongs to the driver thread that made it, whose
/// current device is the rank's. REQUIRES: graphs that captured it are destroyed before it; NCCL
/// (commDestroySync in its src/init.cc) waits for them without a limit.
class Session {
 public:
  Session(const OpenContext& context, const NcclObservation& observation)
      : peers_(context.peers), type_(nccl_type(context.point.dtype)), observation_(observation) {}
  Session(const Session&) = delete;
  ~Session() { release(); }

  /// Collective. Returns what went wrong, or an empty text.
  std::string connect(const ncclUniqueId& id) {
    const auto& init = nccl().api.comm_init_rank;
    const ncclResult_t result = settled(init(&comm_, peers_.ranks, id, peers_.first_rank));
    return result == ncclSuccess ? "" : error_text("ncclCommInitRank", result);
  }
  /// All ranks are connected: from now on the communicator ends in the orderly way, which waits for
  /// its work.
  void established() { sound_ = true; }

  void enqueue(Queue& queue, std::uint64_t shift = 0) {
    if (peers_.count == 0) return;
    if (comm_ == nullptr) throw std::runtime_error("the NCCL communicator was aborted");
    const int rank = peers_.first_rank;
    const Peers peers = shifted(peers_, shift);
    const ncclResult_t result =
        settled(nccl().api.all_reduce(peers.input(rank), peers.output(rank), peers.count, type_,
                                      ncclSum, comm_, static_cast<CudaQueue&>(queue).stream()));
    if (result != ncclSuccess) {
      sound_ = false;
      throw std::runtime_error(error_text("ncclAllReduce", result));
    }
    asked_ = true;
    // Known at the first op, outside of captures, and on all ranks alike: the costs are the same.
    if (observation_.wish_missed())
      throw Refused("NCCL has no " + wish_text() + " for this case: it takes " +
                    observation_.text() + " (NCCL_ALGO, NCCL_PROTO or the topology rule it out)");
  }

  std::string ran() const { return asked_ ? observation_.text() : ""; }

  void abort() {
    if (comm_ != nullptr) nccl().api.comm_abort(std::exchange(comm_, nullptr));
  }

 private:
  /// The final result of a call, also with NCCL_COMM_BLOCKING=0.
  ncclResult_t settled(ncclResult_t result) const {
    while (result == ncclInProgress) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      if (nccl().api.comm_get_async_error(comm_, &result) != ncclSuccess) return ncclInternalError;
    }
    return result;
  }

  std::string wish_text() const { return observation_.wish() == NcclWish::tree ? "tree" : "ring"; }

  /// Errors are ignored: nothing could be done about them.
  void release() {
    if (!sound_) abort();
    if (comm_ == nullptr) return;
    const NcclApi& api = nccl().api;
    if (api.comm_finalize != nullptr) settled(api.comm_finalize(comm_));
    api.comm_destroy(std::exchange(comm_, nullptr));
  }

  Peers peers_;
  ncclDataType_t type_;
  const NcclObservation& observation_;
  ncclComm_t comm_ = nullptr;
  bool sound_ = false;  ///< no peer is missing and no call failed, so ending needs no abort
  bool asked_ = false;  ///< an allreduce was enqueued
};

Op open(const OpenContext& context, NcclWish wish) {
  const NcclTunerScope scope(wish);
  const ncclUniqueId id = common_id(context);
  // Shared by the three functions of the Op, which std::function wants copyable.
  const auto session = std::make_shared<Session>(context, scope.observation());
  exchange(context, session->connect(id), "");
  session->established();
  return {[session](Queue& queue) { session->enqueue(queue); },
          [session] { return session->ran(); }, [session] { session->abort(); },
          [session](Queue& queue, std::uint64_t shift) { session->enqueue(queue, shift); }};
}

Algorithm record(const char* name, const char* summary, NcclWish wish) {
  Algorithm record;
  record.name = name;
  record.summary = summary;
  record.stands_for = "NCCL, as serving frameworks call it";
  record.kernel = false;
  record.library = true;
  if (wish != NcclWish::none) record.must_run = wish == NcclWish::tree ? "tree" : "ring";
  record.scratch = [](const Case&) { return Scratch{}; };
  // The kernel, a callback for the proxy thread and events, at most.
  record.launches_per_op = [](const Case&) { return 4; };
  record.open = [wish](const OpenContext& context) { return open(context, wish); };
  return record;
}

bool register_all() {
  register_algorithm(
      Backend::cuda,
      record("nccl_auto", "NCCL with its own choice of algorithm and protocol", NcclWish::none));
  register_algorithm(Backend::cuda,
                     record("nccl_ring", "NCCL held to ring, protocol its choice", NcclWish::ring));
  register_algorithm(Backend::cuda,
                     record("nccl_tree", "NCCL held to tree, protocol its choice", NcclWish::tree));
  return true;
}

[[maybe_unused]] const bool registered = register_all();

}  // namespace
}  // namespace arbench
