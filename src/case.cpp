#include "arbench/case.hpp"

#include <algorithm>

namespace arbench {

bool Case::is_virtual() const {
  auto sorted = devices;
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

std::string Case::name() const {
  std::string text = "allreduce/" + algorithm + "/" + std::string(word(dtype)) + "/g" +
                     std::to_string(ranks()) + "/" + std::string(word(mode)) + "/" +
                     std::string(word(l2)) + "/" + std::to_string(bytes);
  if (placement == Placement::in_place) text += "/in_place";
  if (!toolkit.empty()) text += "/" + toolkit;
  std::replace(text.begin(), text.end(), ' ', '-');
  return text;
}

std::string Case::contender() const {
  return toolkit.empty() ? algorithm : algorithm + " " + toolkit;
}

bool Case::same_point(const Case& other) const {
  Case twin = other;
  twin.algorithm = algorithm;
  twin.toolkit = toolkit;
  return twin == *this;
}

}  // namespace arbench
