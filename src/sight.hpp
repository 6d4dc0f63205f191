// What a look at the devices shows while a round runs, and what is to be made of it. Plain values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arbench/case.hpp"
#include "machine.hpp"

namespace arbench {

/// A device's PCIe link as it is at a moment.
struct LinkNow {
  int device = 0, generation = 0, width = 0;
  bool operator==(const LinkNow&) const = default;
};

struct Sight {
  std::optional<bool> throttled;  ///< power or heat holds a clock down; empty unknown
  std::vector<LinkNow> links;     ///< by device; those that are known
  /// Throttled is what was so at any look. Of a link the best counts: one that wakes up reads low at first.
  void add(const Sight& other);
};

/// Whether the ranks' data pass PCIe links at all. Otherwise a link may sleep while rounds run.
bool crosses_links(const Case& point);

/// "PCIe link under load: GPU 3 gen 4 x8 of gen 5 x16, ..." of those below what doctor calls their most; empty if none is.
/// A GPU with NVLinks is left out, as its data take those.
std::string slow_links(const std::vector<LinkNow>& links, const std::vector<Gpu>& gpus);

}  // namespace arbench
