#include <algorithm>
#include <set>

#include "compare/input.hpp"
#include "compare/nccl_tests.hpp"

namespace arbench::compare {
namespace {

using Words = std::vector<std::string_view>;

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Without what mpirun --tag-output ("[1,0]<stdout>:") and srun -l ("0: ") put in front.
std::string_view without_tag(std::string_view line) {
  const std::size_t tag = line.find(">:");
  if (line.starts_with('[') && tag < 40 && line.substr(0, tag).find("]<std") < tag)
    return line.substr(tag + 2);
  const std::size_t colon = line.find_first_not_of(" 0123456789");
  if (colon != std::string_view::npos && colon > 0 && line.substr(colon).starts_with(": "))
    return line.substr(colon + 2);
  return line;
}

/// The word behind `label`, or nothing.
std::string after(std::string_view line, std::string_view label) {
  const std::size_t at = line.find(label);
  if (at == std::string_view::npos) return "";
  const Words words = words_of(line.substr(at + label.size()));
  return words.empty() ? "" : std::string(words[0].substr(0, 40));
}

/// Where the columns of a table are.
struct Layout {
  struct Group {
    std::size_t time, wrong = 0;  ///< wrong 0: no such column
    bool cpu_time, in_place;
  };
  std::size_t columns = 0, redop = 0, root = 0;  ///< redop, root 0: no such column
  bool deviation = false;  ///< "error": the largest deviation and not a count of wrong elements
  bool timestamp = false;  ///< at the end of each line, in two words
  std::vector<Group> groups;
};

/// Nothing when the line is no header. `above` is the line before it, which names the groups.
std::optional<Layout> layout_of(const Words& header, std::string_view above) {
  if (header.size() < 6 || header[0] != "size" || header[1] != "count" || header[2] != "type" ||
      std::find(header.begin(), header.end(), "busbw") == header.end())
    return std::nullopt;
  Layout layout;
  layout.columns = header.size();
  const bool only_in_place = above.find("out-of-place") == std::string_view::npos &&
                             above.find("in-place") != std::string_view::npos;
  for (std::size_t i = 3; i < header.size(); ++i) {
    if (header[i] == "redop") layout.redop = i;
    if (header[i] == "root") layout.root = i;
    if (header[i] == "timestamp") layout.timestamp = true;
    if (header[i] == "time" || header[i] == "cputime")
      layout.groups.push_back(
          {i, 0, header[i] == "cputime", only_in_place || !layout.groups.empty()});
    if (layout.groups.empty()) continue;
    if (header[i] == "#wrong" || header[i] == "error") layout.groups.back().wrong = i;
    if (header[i] == "error") layout.deviation = true;
  }
  return layout;
}

/// Of a line "Rank 0 Group 0 Pid 12 on host device 0 [0000:05:00] name".
std::optional<NcclRank> rank_of(std::string_view line) {
  const auto device = whole_number(after(line, " device "));
  const std::size_t bracket = line.find("] ");
  if (!line.starts_with("Rank ") || !device || bracket == std::string_view::npos)
    return std::nullopt;
  std::string_view gpu = line.substr(bracket + 2);
  gpu = gpu.substr(0, gpu.find_last_not_of(" \r") + 1);
  return NcclRank{after(line, "Rank "), after(line, " Group "),         after(line, " Pid "),
                  after(line, " on "),  std::string(gpu.substr(0, 80)), *device};
}

/// One pass over a file, line by line.
class Reader {
 public:
  Reader(const std::string& path, bool several) : set_{path, {}, {}} { run_.several = several; }
  void line(std::string_view raw, std::size_t number, bool last);
  ResultSet finished();

 private:
  void comment(std::string_view line);
  void start(std::string_view banner);
  void add_rank(NcclRank rank);
  void row(const Words& words);
  void measure(const Words& words, const Layout::Group& group, NcclRow row);
  void footer(std::string_view line);
  [[noreturn]] void refuse(const std::string& why) const { refuse_file(set_.path, where_ + why); }

  ResultSet set_;
  Repetitions repetitions_;
  NcclRun run_;
  Key run_key_;
  Layout layout_;
  std::string where_, above_;
  std::vector<std::pair<Key, std::string>>
      table_;  ///< its rows, where `deviation` leaves them open
  bool footer_ = false;
};

void Reader::line(std::string_view raw, std::size_t number, bool last) {
  where_ = "line " + std::to_string(number) + " ";
  std::string_view line = without_tag(raw);
  line.remove_prefix(std::min(line.find_first_not_of("# \t"), line.size()));
  const Words words = words_of(line);
  if (auto layout = layout_of(words, above_)) {
    if (layout->groups.empty() || layout->groups.size() > 2)
      refuse("is the header of a table with neither one nor two times");
    layout_ = std::move(*layout);
    run_key_ = run_key(run_);
    table_.clear();
  } else if (words.size() > 3 && all_digits(words[0]) && all_digits(words[1]) &&
             !all_digits(words[2].substr(0, 1))) {
    if (last) refuse("has no end: the file was cut");
    row(words);
  } else {
    comment(line);
  }
  above_ = line.substr(0, 1000);
}

void Reader::comment(std::string_view line) {
  if (line.starts_with("nThread ")) start(line);
  if (auto rank = rank_of(line)) add_rank(std::move(*rank));
  if (line.starts_with("Blocking Enabled")) run_.blocking = true;
  if (line.starts_with("Collective test starting:"))
    run_.program = after(line, "Collective test starting:");
  if (const auto name = after(line, "NCCL_ALGO set by environment to "); !name.empty())
    run_.algorithm = name;
  if (const auto name = after(line, "NCCL_PROTO set by environment to "); !name.empty())
    run_.protocol = name;
  if (line.starts_with("nccl-tests version ")) {
    set_.facts["nccl-tests"] = after(line, "nccl-tests version ");
    if (const auto code = whole_number(after(line, "nccl-library=")))
      set_.facts["nccl_version"] = nccl_version(*code);
  }
  if (const auto version = after(line, "NCCL version "); !version.empty())
    set_.facts["nccl_version"] = version.substr(0, version.find('+'));
  footer(line);
}

/// Another run begins, maybe in the same file.
void Reader::start(std::string_view banner) {
  run_.ranks.clear();
  run_.blocking = false;
  run_.algorithm = run_.protocol = "";
  run_.warmup = after(banner, "warmup iters: ");
  run_.iterations = after(banner, "warmup iters: " + run_.warmup + " iters: ");
  const std::string aggregated = after(banner, "agg iters: "), graph = after(banner, "graph: ");
  run_.aggregated = aggregated.empty() ? "1" : aggregated;
  run_.graph = graph.empty() ? "0" : graph;
}

/// Each of several programs without MPI lists its rank 0.
void Reader::add_rank(NcclRank rank) {
  const auto same = [&](const NcclRank& other) { return other.rank == rank.rank; };
  if (std::any_of(run_.ranks.begin(), run_.ranks.end(), same)) return;
  if (run_.ranks.size() == kMaxRanks) refuse("lists more ranks than 4096, the most that are read");
  run_.ranks.push_back(std::move(rank));
}

void Reader::row(const Words& words) {
  if (layout_.groups.empty()) return;  // numbers above any table
  const std::size_t columns = layout_.columns + (layout_.timestamp ? 1 : 0);
  if (words.size() != columns)
    refuse("has " + std::to_string(words.size()) + " fields and not the " +
           std::to_string(columns) + " of the table's header");
  const auto bytes = whole_number(words[0]), count = whole_number(words[1]);
  if (!bytes || !count) refuse("has a size beyond 64 bits");
  NcclRow row{*bytes, *count, std::string(words[2]), "sum", "-1", "", false, false};
  if (layout_.redop > 0) row.redop = words[layout_.redop];
  if (layout_.root > 0) row.root = words[layout_.root];
  for (const Layout::Group& group : layout_.groups) measure(words, group, row);
}

void Reader::measure(const Words& words, const Layout::Group& group, NcclRow row) {
  row.in_place = group.in_place;
  row.cpu_time = group.cpu_time;
  const Key key = row_key(run_key_, row);
  const std::string name = row_name(key), time(words[group.time]);
  const auto us = positive_number(time);
  if (!us && time != "N/A" && time.find_first_not_of("0.") != std::string::npos)
    refuse("has the time '" + time.substr(0, 40) + "', which is not a number above 0");
  repetitions_.add(set_, key, name, us);
  const std::string wrong(group.wrong > 0 ? words[group.wrong] : "N/A");
  if (layout_.deviation) table_.emplace_back(key, name);
  if (layout_.deviation || wrong == "N/A" || wrong == "0") return;
  if (!positive_number(wrong))
    refuse("has #wrong '" + wrong.substr(0, 40) + "', which is no number of elements");
  repetitions_.fail(set_, key, name, "wrong",
                    wrong + " wrong elements, " + where_.substr(0, where_.size() - 1));
}

void Reader::footer(std::string_view line) {
  if (line.starts_with("Avg bus bandwidth")) footer_ = true;
  if (!line.starts_with("Out of bounds values") || line.find("FAILED") == std::string_view::npos)
    return;
  for (auto& [key, name] : table_)
    repetitions_.fail(set_, key, name, "wrong",
                      "its table has values out of bounds and does not say in which row");
  table_.clear();
}

ResultSet Reader::finished() {
  if (layout_.groups.empty())
    refuse_file(set_.path,
                "is neither rows.csv of arbench (which begins with schema_version) nor JSON of "
                "Google Benchmark or nccl-tests, and holds no table of nccl-tests");
  if (set_.entries.empty()) refuse_file(set_.path, "has a table of nccl-tests without rows");
  add_run_facts(set_, run_);
  if (!footer_) set_.facts["end of the log"] = "missing";
  return std::move(set_);
}

template <class Each>
void for_each_line(std::string_view text, Each each) {
  std::size_t number = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    each(text.substr(start, end - start), ++number, end == text.size());
    start = end + 1;
  }
}

/// -n and -w differ within the file.
bool has_several_settings(std::string_view text) {
  std::set<std::string> settings;
  for_each_line(text, [&](std::string_view line, std::size_t, bool) {
    const std::size_t start = line.find("warmup iters:");
    if (start != std::string_view::npos && settings.size() < 2)
      settings.emplace(line.substr(start, line.find("agg iters") - start));
  });
  return settings.size() > 1;
}

}  // namespace

ResultSet read_nccl_tests(const std::string& text, const std::string& path) {
  Reader reader(path, has_several_settings(text));
  for_each_line(text, [&](std::string_view line, std::size_t number, bool last) {
    reader.line(line, number, last);
  });
  return reader.finished();
}

}  // namespace arbench::compare
