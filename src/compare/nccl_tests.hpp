// What the text and the JSON of nccl-tests have in common: which keys of arbench their rows have. Pure functions.
//
//   algo      nccl_auto; by NCCL_ALGO and NCCL_PROTO nccl_ring, nccl_auto_ll ..., as far as the file tells them; the name of the
//             program for another collective than all_reduce (before 2.17 text does not tell it: taken for all_reduce); a JSON's
//             experiment_name where it has one
//   ngpus     ranks of one group
//   gpu_order devices by rank; those that JSON leaves out follow the one it names, as nccl-tests numbers them
//   dtype     float is f32, half f16, bfloat16 bf16, all else as it is
//   redop, bytes, count, in_place, placement   as in the table
//   mode      graph with -G, or else eager
//   launch    threads, or processes where ranks have several
//   backend cuda, virtual 0, transport p2p, l2 hot   always
//
// So rows join those of arbench's nccl_auto, l2 hot, without --transport host. Their times are no medians but means over -n
// iterations, and nccl-tests moves through a larger buffer: the format is shown among the differences. -n and -w are no keys,
// unless one file has several of them. -m, -z, -C, a root and several groups are, since they measure something else. Without
// the list of ranks, ngpus, gpu_order and launch are "unknown", which joins with its like alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compare/result_set.hpp"

namespace arbench::compare {

struct NcclRank {
  std::string rank, group, pid, host, gpu;
  std::uint64_t device = 0;
};

/// What stands above a table.
struct NcclRun {
  std::string program, algorithm,
      protocol;  ///< all_reduce_perf, NCCL_ALGO, NCCL_PROTO; empty: not told
  std::vector<NcclRank> ranks;
  std::string warmup, iterations, aggregated = "1", graph = "0";
  bool blocking = false;
  bool several = false;  ///< settings in this file
};

/// One placement of one line.
struct NcclRow {
  std::uint64_t bytes = 0, count = 0;
  std::string type, redop, root, experiment;
  bool in_place = false, cpu_time = false;
};

/// More ranks are refused.
inline constexpr std::size_t kMaxRanks = 4096;

/// Keys of the run alone: those of a row come on top.
Key run_key(const NcclRun& run);
Key row_key(const Key& run, const NcclRow& row);
/// "nccl_auto/f32/sum/g8/eager/out_of_place/1024"
std::string row_name(const Key& key);

/// Versions apart, what is the same for all rows.
void add_run_facts(ResultSet& set, const NcclRun& run);
/// 22703 is 2.27.3; before 2.9, 2708 was 2.7.8.
std::string nccl_version(std::uint64_t code);

}  // namespace arbench::compare
