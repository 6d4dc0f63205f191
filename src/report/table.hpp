// The comparison tables that a user reads in the terminal. Pure function, plain ASCII, the same in
// every locale.
#pragma once

#include <string>
#include <vector>

#include "result.hpp"

namespace arbench {

inline constexpr int kTableWidth = 120;

/// One table for each (backend, launch, ranks and devices, dtype, mode, placement), in order of
/// appearance; virtual and host results say so under their title. Lines are sizes, ascending and
/// exact ("56 KiB", "57345 B"); columns are algorithms in order of appearance, then `best`, the
/// fastest one's name, and `vs nccl`: best NCCL median / best other median, so that 2x means half
/// of NCCL's time; "-" where one of the two is missing. A cell is the median in us per op, three
/// digits or more; in brackets when it is tied with the best: their medians differ by
/// less than the A/A band of the size or 1 %, or their confidence intervals overlap. Without a time it
/// is "-" (skipped, unsupported), "functional", "WRONG", "HUNG", "error", or "ok" for a message of
/// 0 bytes; blank when there is no such row. Under the table stand the range of its A/A bands and each distinct reason with its
/// algorithms. No line of numbers is wider than `width` as long as two columns fit: the algorithms
/// then go on in a block below, the last of which ends with `best` and `vs nccl`. Of several rows
/// for one cell the last one counts. Empty for no rows.
std::string table(const std::vector<Row>& rows, int width = kTableWidth);

}  // namespace arbench
