#include "compare/input.hpp"
#include "compare/result_set.hpp"

namespace arbench::compare {

Entry& Repetitions::entry(ResultSet& set, Key key, const std::string& name) {
  if (++count_ > kMaxRows)
    refuse_file(set.path, "has more than 100000 rows, the most that are read");
  const auto [at, is_new] = places_.try_emplace(std::move(key), set.entries.size());
  if (is_new) {
    set.entries.emplace_back();
    set.entries.back().key = at->first;
    set.entries.back().name = name;
  }
  return set.entries[at->second];
}

void Repetitions::add(ResultSet& set, Key key, const std::string& name, std::optional<double> us) {
  Entry& found = entry(set, std::move(key), name);
  if (us) found.samples.push_back({*us});
}

void Repetitions::fail(ResultSet& set, Key key, const std::string& name, const std::string& status,
                       const std::string& reason) {
  Entry& found = entry(set, std::move(key), name);
  found.status = status;
  found.reason = reason;
}

}  // namespace arbench::compare
