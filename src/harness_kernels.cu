#include "arbench/algorithm.hpp"
#include "arbench/reduce.hpp"
#include "arbench/signal.hpp"
#include "harness_kernels.hpp"
#include "patterns.hpp"

namespace arbench {
namespace {

struct StartTogether {
  static constexpr bool kSpecialised = false;
  Start start;

  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers& p) const {
    const std::uint32_t epoch = begin_call(ex, p);
    bool late = false;
    if (ex.thread() == 0)
      late = !wait_until(ex, p, kAnyPeer, start.gate, [&](std::uint32_t* seen) {
        *seen = ex.host_word(&p.control->gate);
        return reached(*seen, start.gate);
      });
    if (ex.sync_block_any(late)) return;
    advance_call(ex, p, epoch);
    barrier(ex, p, ticket(epoch, 1));
    if (ex.thread() != 0) return;
    if (ex.rank() == start.late_rank) delay(ex, start.late_ns);
    if (start.stamps != nullptr) start.stamps[ex.rank() - p.first_rank].start_ns = ex.now_ns();
  }
};

struct End {
  static constexpr bool kSpecialised = false;
  Stamps* stamps;

  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers& p) const {
    if (ex.thread() == 0) stamps[ex.rank() - p.first_rank].end_ns = ex.now_ns();
  }
};

struct CompareClocks {
  static constexpr bool kSpecialised = false;
  std::uint32_t turn;
  ClockOffset* result;

  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers& p) const {
    if (ex.thread() == 0) compare_clocks(ex, p, turn, result);
  }
};

struct MeasureSmClock {
  static constexpr bool kSpecialised = false;
  SmClock* result;

  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers&) const {
    if (ex.thread() == 0) *result = measure_sm_clock(ex);
  }
};

struct Meet {
  static constexpr bool kSpecialised = false;

  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers& p) const {
    const std::uint32_t epoch = begin_call(ex, p);
    if (!barrier<Orders::nothing>(ex, p, ticket(epoch, 1))) return;
    advance_call(ex, p, epoch);
  }
};

/// Reads, so that nothing is left to be written back while ops run.
struct Sweep {
  static constexpr bool kSpecialised = false;
  Pack* data;
  std::uint64_t packs;

  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers&) const {
    std::uint32_t bits = 0;
    for (std::uint64_t i = first_pack(ex); i < packs; i += pack_stride(ex))
      bits |= ex.load_inline(data + i).word[0];
    if (bits == ~0u) data->word[0] = 0;  // it holds zeros: never, but no compiler knows
  }
};

struct Fill {
  static constexpr bool kSpecialised = false;
  void* data;
  std::uint64_t count;
  int rank;
  Pattern pattern;

  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers&) const {
    for (std::uint64_t i = first_pack(ex); i < count; i += pack_stride(ex))
      static_cast<T*>(data)[i] = from_float<T>(input_value<T>(rank, i, pattern));
  }
};

template <class Exec>
ARBENCH_DEVICE void report_wrong(const Exec& ex, CheckResult* result, std::uint64_t i) {
  ex.add_local(&result->wrong, 1);
  ex.min_local(&result->first, i);
}

struct Check {
  static constexpr bool kSpecialised = false;
  const void* data;
  std::uint64_t count;
  Wanted wanted;
  CheckResult* result;

  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers&) const {
    const bool errors = wanted.ranks > 0 && wanted.pattern.data == Data::random;
    for (std::uint64_t i = first_pack(ex); i < count; i += pack_stride(ex)) {
      const T element = static_cast<const T*>(data)[i];
      if (!(errors ? check_random(ex, element, i) : matches(element, i)))
        report_wrong(ex, result, i);
    }
  }

  template <class T>
  ARBENCH_DEVICE bool matches(T element, std::uint64_t i) const {
    const Pattern& pattern = wanted.pattern;
    float sum = 0;
    if (wanted.ranks == 0)
      sum = input_value<T>(wanted.rank, i, pattern);
    else if (pattern.data == Data::special)
      sum = to_float(from_float<T>(static_cast<float>(sum_of_inputs<T>(i, wanted.ranks, pattern))));
    else
      for (int r = 0; r < wanted.ranks; ++r) sum += input_value<T>(r, i, pattern);
    const float seen = to_float(element);
    return seen == sum * wanted.factor || (seen != seen && sum != sum);
  }

  template <class T, class Exec>
  ARBENCH_DEVICE bool check_random(const Exec& ex, T element, std::uint64_t i) const {
    const double sum = sum_of_inputs<T>(i, wanted.ranks, wanted.pattern);
    const double difference = static_cast<double>(to_float(element)) - sum;
    const double error = difference < 0 ? -difference : difference;
    const double ulps = error / ulp_at<T>(sum);
    ex.max_local(&result->max_ulp_bits, bits_of(static_cast<float>(ulps)));
    ex.max_local(&result->max_error_bits, bits_of(static_cast<float>(error)));
    ex.add_local(&result->hash, hash_of(element_bits(element), i));
    return error <= legal_error<T>(sum, wanted.ranks, wanted.rounds_once);  // false for a NaN
  }
};

struct CheckBytes {
  static constexpr bool kSpecialised = false;
  const unsigned char* data;
  std::uint64_t bytes;
  int byte;
  CheckResult* result;

  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers&) const {
    for (std::uint64_t i = first_pack(ex); i < bytes; i += pack_stride(ex))
      if (data[i] != byte) report_wrong(ex, result, i);
  }
};

/// These kernels touch one rank's memory: no peers, and on the host one thread does.
Geometry local_shape(std::uint64_t items) {
  if (kBackend == Backend::host) return {1, 1};
  return {static_cast<int>(std::min<std::uint64_t>(items / 512 + 1, kMaxBlocks)), 512};
}

/// One block per rank, on a GPU with a thread for every rank.
Geometry meeting_shape() { return {1, kBackend == Backend::host ? 1 : kMinGpuThreads}; }

struct RegisterHarness {
  RegisterHarness() {
    register_harness_kernels(
        kBackend,
        {.start =
             [](Queue& queue, const Peers& peers, const Start& start, int grid_ranks) {
               launch(queue, StartTogether{start}, peers, Dtype::f32, meeting_shape(), grid_ranks);
             },
         .end =
             [](Queue& queue, const Peers& peers, Stamps* stamps, int grid_ranks) {
               launch(queue, End{stamps}, peers, Dtype::f32, meeting_shape(), grid_ranks);
             },
         .compare_clocks =
             [](Queue& queue, const Peers& peers, std::uint32_t turn, ClockOffset* result) {
               launch(queue, CompareClocks{turn, result}, peers, Dtype::f32, meeting_shape());
             },
         .measure_sm_clock =
             [](Queue& queue, SmClock* result) {
               launch(queue, MeasureSmClock{result}, Peers{}, Dtype::f32, meeting_shape());
             },
         .meet =
             [](Queue& queue, const Peers& peers, int grid_ranks) {
               launch(queue, Meet{}, peers, Dtype::f32, meeting_shape(), grid_ranks);
             },
         .sweep =
             [](Queue& queue, void* data, std::uint64_t bytes) {
               const std::uint64_t packs = bytes / sizeof(Pack);
               launch(queue, Sweep{static_cast<Pack*>(data), packs}, Peers{}, Dtype::f32,
                      local_shape(packs));
             },
         .fill =
             [](Queue& queue, Dtype dtype, void* data, std::uint64_t count, int rank,
                Pattern pattern) {
               launch(queue, Fill{data, count, rank, pattern}, Peers{}, dtype, local_shape(count));
             },
         .check =
             [](Queue& queue, Dtype dtype, const void* data, std::uint64_t count,
                const Wanted& wanted, CheckResult* result) {
               launch(queue, Check{data, count, wanted, result}, Peers{}, dtype,
                      local_shape(count));
             },
         .check_bytes =
             [](Queue& queue, const void* data, std::uint64_t bytes, int byte,
                CheckResult* result) {
               launch(queue,
                      CheckBytes{static_cast<const unsigned char*>(data), bytes, byte, result},
                      Peers{}, Dtype::f32, local_shape(bytes));
             }});
  }
};

const RegisterHarness harness;

}  // namespace
}  // namespace arbench
