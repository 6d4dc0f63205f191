#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "compare/input.hpp"
#include "compare/result_set.hpp"

namespace arbench::compare {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kMaxLaunches = 100;

ResultSet read_folder(const fs::path& folder) {
  const auto text = [&](const char* name, std::size_t most) {
    return read_text((folder / name).string(), most);
  };
  ResultSet set = read_rows(text("rows.csv", kMaxText), (folder / "rows.csv").string());
  std::error_code error;
  if (fs::exists(folder / "samples.csv", error))
    add_samples(set, text("samples.csv", kMaxSamples), (folder / "samples.csv").string());
  if (fs::exists(folder / "run.json", error))
    add_facts(set, text("run.json", kMaxText), (folder / "run.json").string());
  set.path = folder.string();
  return set;
}

ResultSet read_file(const std::string& path) {
  return read_result(read_text(path, kMaxText), path);
}

/// launch-2 comes before launch-10.
bool before(const fs::path& a, const fs::path& b) {
  const std::string x = a.string(), y = b.string();
  return x.size() != y.size() ? x.size() < y.size() : x < y;
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (auto at = fs::directory_iterator(folder, error); !error && at != fs::directory_iterator();
       at.increment(error))
    if (at->is_directory(error) && !at->path().filename().string().starts_with('.') &&
        fs::exists(at->path() / "rows.csv", error))
      found.push_back(at->path());
  std::sort(found.begin(), found.end(), before);
  return found;
}

void add(Side& side, const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error))
    refuse_file(path, "does not exist; it takes a folder of arbench run --out, or a file");
  if (!fs::is_directory(path, error)) {
    side.push_back(read_file(path));
  } else if (fs::exists(fs::path(path) / "rows.csv", error)) {
    side.push_back(read_folder(path));
  } else {
    const auto folders = folders_in(path);
    if (folders.empty()) refuse_file(path, "holds no rows.csv and no folder with one");
    if (folders.size() > kMaxLaunches)
      refuse_file(path, "holds more than 100 launches, the most that are read");
    for (const fs::path& folder : folders) side.push_back(read_folder(folder));
  }
  if (side.size() > kMaxLaunches)
    refuse_file(path, "is one of more than 100 launches, the most that are read");
}

}  // namespace

ResultSet read_result(const std::string& text, const std::string& path) {
  require_text(text, path);
  if (text.starts_with("schema_version,")) return read_rows(text, path);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '{') return read_nccl_tests(text, path);
  const nlohmann::json file = read_json(text, path);
  if (file.contains("benchmarks")) return read_google_benchmark(file, path);
  if (file.contains("results")) return read_nccl_tests_json(file, path);
  refuse_file(path,
              "is JSON, but neither of Google Benchmark (benchmarks) nor nccl-tests (results)");
}

Side read_side(const std::string& paths) {
  Side side;
  for (std::size_t start = 0; start <= paths.size();) {
    const std::size_t end = std::min(paths.find(',', start), paths.size());
    const std::string path = paths.substr(start, end - start);
    if (path.empty()) refuse_file(paths, "has an empty path in its list");
    add(side, path);
    start = end + 1;
  }
  return side;
}

}  // namespace arbench::compare
