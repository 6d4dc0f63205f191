#include "sight.hpp"

#include <algorithm>

namespace arbench {

void Sight::add(const Sight& other) {
  if (other.throttled) throttled = throttled.value_or(false) || *other.throttled;
  for (const LinkNow& link : other.links) {
    const auto same = std::find_if(links.begin(), links.end(),
                                   [&](const LinkNow& l) { return l.device == link.device; });
    if (same == links.end()) {
      links.push_back(link);
      continue;
    }
    same->generation = std::max(same->generation, link.generation);
    same->width = std::max(same->width, link.width);
  }
}

bool crosses_links(const Case& point) {
  const auto first = [&](int device) { return device == point.devices.front(); };
  return point.transport == Transport::host ||
         !std::all_of(point.devices.begin(), point.devices.end(), first);
}

std::string slow_links(const std::vector<LinkNow>& links, const std::vector<Gpu>& gpus) {
  std::string slow;
  for (const LinkNow& link : links)
    for (const Gpu& gpu : gpus) {
      const bool full =
          link.generation >= gpu.max_link_generation && link.width >= gpu.max_link_width;
      if (gpu.device != link.device || gpu.nvlinks > 0 || full) continue;
      slow += (slow.empty() ? "PCIe link under load: GPU " : ", GPU ") +
              std::to_string(link.device) + " " + link_text(link.generation, link.width) + " of " +
              link_text(gpu.max_link_generation, gpu.max_link_width);
    }
  return slow;
}

}  // namespace arbench
