// Ring allreduce whose bytes travel by the copy engine; small kernels carry flags and add.
// Two lanes, each a ring of its own over one half of every chunk, so that one lane's copy runs beside the other's add.
// A lane is one stream of: copy chunk to the next rank; Step kernel: tell the next rank (the copy is complete, streams run
// in order), wait for the previous rank's chunk, add the own input.
//   reduce-scatter step s: copy into the next rank's scratch slot s; sum slot s with the own input, the last sum into the
//                          output
//   all-gather step s:     copy from the own output into the next rank's output; only tell and wait
// Why no credits are needed: as in ring_simple.cu. Per rank on the link: 2(n-1)/n S written by the copy engine.
#include "arbench/algorithm.hpp"
#include "arbench/reduce.hpp"
#include "arbench/signal.hpp"

namespace arbench {
namespace {

/// One flag exchange of a lane, and the add that follows it. All blocks wait on the lane's one
/// word; block 0 tells.
struct Step {
  static constexpr bool kSpecialised = false;

  int lane;
  std::uint32_t step;        ///< 1 .. 2(n-1) within the call
  bool last;                 ///< ends the call for this lane; runs as one block
  std::uint64_t begin, end;  ///< packs to add; none in the all-gather
  const Pack* received;      ///< the partial sums of these packs, from pack `begin` on
  Pack* partial;             ///< where the sums go, from pack `begin` on; null: to the output

  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers& p) const {
    const int rank = ex.rank(), next = (rank + 1) % p.ranks;
    const int previous = (rank + p.ranks - 1) % p.ranks;
    std::uint32_t* epoch_word = &p.progress(rank).epoch[lane];
    const std::uint32_t epoch = ex.load_word(epoch_word);
    const std::uint32_t value = ticket(epoch, step);
    bool late = false;
    if (ex.thread() == 0) {
      if (ex.block() == 0) ex.store_release(&p.signals(next).flag[lane][rank].value, value);
      const std::uint32_t* word = &p.signals(rank).flag[lane][previous].value;
      late = !wait_until(ex, p, previous, value, [&](std::uint32_t* seen) {
        *seen = ex.load_acquire(word);
        return reached(*seen, value);
      });
    }
    if (ex.sync_block_any(late)) return;
    for (std::uint64_t i = begin + first_pack(ex); i < end; i += pack_stride(ex)) {
      Sum<T> sum(received[i - begin]);
      sum.add(load_pack<T>(p.input(rank), i, p.count));
      if (partial != nullptr) {
        partial[i - begin] = sum.rounded();
      } else {
        store_pack<T>(p.output(rank), i, p.count, sum.rounded());
      }
    }
    if (last && ex.thread() == 0) ex.store_word(epoch_word, epoch + 1);
  }
};

#ifndef __CUDACC_RTC__
/// Where chunk c's half of a lane lies, in packs of the message.
struct Range {
  std::uint64_t begin, end;
};

class CopyRing {
 public:
  explicit CopyRing(const OpenContext& context)
      : p_(context.peers),
        dtype_(context.point.dtype),
        code_(code_of<Step>(context.point)),
        shape_(context.geometry),
        bytes_(context.point.bytes),
        packs_(arbench::packs_of(context.point)),
        chunk_((packs_ + p_.ranks - 1) / p_.ranks) {}

  CopyRing shifted_by(std::uint64_t shift) const {
    CopyRing other = *this;
    other.p_ = shifted(p_, shift);
    return other;
  }

  void enqueue(Queue& queue) const {
    if (p_.count == 0) return;
    for (int lane = 0; lane < kLanes; ++lane) enqueue_lane(queue.lane(lane), lane);
    queue.join();
  }

 private:
  void enqueue_lane(Queue& queue, int lane) const {
    const int n = p_.ranks, rank = p_.first_rank, next = (rank + 1) % n;
    for (int s = 0; s < n - 1; ++s) {  // reduce-scatter
      const Range sent = range(rank - s, lane), added = range(rank - s - 1, lane);
      const void* from = s == 0 ? at(p_.input(rank), sent) : slot(rank, s - 1, lane);
      copy(queue, slot(next, s, lane), from, sent);
      const bool to_output = s == n - 2;
      launch(queue,
             Step{lane, static_cast<std::uint32_t>(s + 1), false, added.begin, added.end,
                  slot(rank, s, lane), to_output ? nullptr : slot(rank, s, lane)},
             p_, dtype_, shape_, 1, code_);
    }
    for (int s = 0; s < n - 1; ++s) {  // all-gather
      const Range sent = range(rank + 1 - s, lane);
      copy(queue, const_cast<void*>(at(p_.output(next), sent)), at(p_.output(rank), sent), sent);
      launch(queue,
             Step{lane, static_cast<std::uint32_t>(n + s), s == n - 2, 0, 0, nullptr, nullptr}, p_,
             dtype_, {1, 1}, 1, code_);
    }
  }

  Range range(int chunk, int lane) const {
    const std::uint64_t c = static_cast<std::uint64_t>((chunk + 2 * p_.ranks) % p_.ranks);
    const std::uint64_t begin = std::min(c * chunk_, packs_);
    const std::uint64_t end = std::min(begin + chunk_, packs_);
    const std::uint64_t middle = std::min(begin + half(), end);
    return lane == 0 ? Range{begin, middle} : Range{middle, end};
  }
  std::uint64_t half() const { return (chunk_ + 1) / 2; }

  Pack* slot(int owner, int step, int lane) const {
    return reinterpret_cast<Pack*>(p_.scratch(owner)) + step * chunk_ + lane * half();
  }
  static const void* at(const void* base, Range range) {
    return static_cast<const Pack*>(base) + range.begin;
  }
  void copy(Queue& queue, void* to, const void* from, Range range) const {
    const std::uint64_t end = std::min(range.end * sizeof(Pack), bytes_);
    const std::uint64_t begin = range.begin * sizeof(Pack);
    if (end > begin) queue.copy(to, from, end - begin);
  }

  Peers p_;
  Dtype dtype_;
  Code code_;
  Geometry shape_;
  std::uint64_t bytes_, packs_, chunk_;
};

Algorithm record() {
  Algorithm record;
  record.name = "p2p_copy_ring";
  record.summary = "ring whose chunks travel by peer copies (copy engine), two lanes, add kernels";
  record.stands_for = "b12x copy-engine ring";
  record.kernel = false;
  record.launches_at_once = kLanes;
  record.reject = [](const Case& point) -> std::optional<std::string> {
    // Streams of one context that wait for each other: CUDA promises nothing. On an H200 (driver 580) one point in twenty of
    // 4 or 8 ranks stood still at 4 MiB, with all work enqueued and room on the device; 2 ranks never did.
    if (point.launch == Launch::processes || !point.is_virtual() || point.ranks() == 2)
      return std::nullopt;
    return std::to_string(point.ranks()) + " virtual ranks of " + std::to_string(kLanes + 1) +
           " streams each do not run side by side reliably in one process; --launch processes runs "
           "them";
  };
  record.scratch = [](const Case& point) {
    const auto ranks = static_cast<std::uint64_t>(point.ranks());
    return Scratch{(packs_of(point) + ranks - 1) / ranks * 16 * (ranks - 1), 0};
  };
  record.geometry = [](const Case& point, int max_blocks) {
    const auto parts = static_cast<std::uint64_t>(point.ranks() * kLanes);
    return spread(point, packs_of(point) / parts, 32, max_blocks);
  };
  record.blocks_per_multiprocessor = blocks_per_multiprocessor<Step>;
  record.instance = instance_of<Step>;
  record.launches_per_op = [](const Case& point) { return kLanes * 4 * (point.ranks() - 1) + 4; };
  record.open = [](const OpenContext& context) {
    const auto at = [ring = CopyRing(context)](Queue& queue, std::uint64_t shift) {
      ring.shifted_by(shift).enqueue(queue);
    };
    return Op{[at](Queue& queue) { at(queue, 0); }, {}, {}, at};
  };
  return record;
}

const Register p2p_copy_ring(record());
#endif

}  // namespace
}  // namespace arbench
