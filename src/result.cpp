#include "result.hpp"

namespace arbench {

std::optional<double> Row::algbw_gbps() const {
  if (!time || time->median <= 0 || point.bytes == 0) return std::nullopt;
  return static_cast<double>(point.bytes) / (time->median * 1e3);  // B/us is MB/s
}

std::optional<double> Row::busbw_gbps() const {
  const auto algbw = algbw_gbps();
  if (!algbw || point.devices.empty()) return std::nullopt;
  return *algbw * 2 * (point.ranks() - 1) / point.ranks();
}

std::optional<double> Row::pct_floor() const {
  if (!time || time->median <= 0 || !floor_us) return std::nullopt;
  return 100 * *floor_us / time->median;
}

}  // namespace arbench
