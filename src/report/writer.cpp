#include "report/writer.hpp"

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <utility>

#include "options.hpp"
#include "report/columns.hpp"
#include "report/csv.hpp"

namespace arbench {
namespace {

constexpr const char* kRows = "rows.csv";
constexpr const char* kSamples = "samples.csv";
constexpr const char* kRun = "run.json";
constexpr const char* kSamplesHeader = "name,launch,round,replay,rank,us\n";

[[noreturn]] void refuse(const std::filesystem::path& folder, const std::string& why) {
  throw UsageError("--out " + folder.string() + ": " + why +
                   "; it takes a folder without results that can be written to, or a new one");
}

void prepare(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) refuse(folder, "cannot be created (" + error.message() + ")");
  if (!std::filesystem::is_directory(folder, error)) refuse(folder, "is not a folder");
  for (const char* file : {kRows, kSamples, kRun})
    if (std::filesystem::exists(std::filesystem::symlink_status(folder / file, error)))
      refuse(folder, std::string("holds ") + file + " already");
}

std::unique_ptr<AppendFile> create(const std::filesystem::path& folder, const char* file) {
  try {
    return std::make_unique<AppendFile>(folder / file);
  } catch (const std::system_error& error) {
    refuse(folder, std::string("cannot create ") + file + " (" + error.code().message() + ")");
  }
}

std::unique_ptr<AppendFile> go_on(const std::filesystem::path& folder, const char* file) {
  try {
    return std::make_unique<AppendFile>(folder / file, AppendFile::Existing::append);
  } catch (const std::system_error& error) {
    throw UsageError("--resume " + folder.string() + ": cannot write to " + file + " (" +
                     error.code().message() + ")");
  }
}

/// Empty for a file that cannot be read.
std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The whole lines of samples.csv that belong to one of the rows.
std::string samples_of(const std::string& text, const std::set<std::string>& rows) {
  std::string kept = kSamplesHeader;
  for (std::size_t start = 0, end; (end = text.find('\n', start)) != std::string::npos;
       start = end + 1) {
    const std::string line = text.substr(start, end + 1 - start);
    if (start > 0 && rows.count(csv_cells(line)[0]) > 0) kept += line;
  }
  return kept;
}

std::string sample_lines(const Row& row, const std::vector<Sample>& samples) {
  const std::string begin =
      csv_field(row.point.name()) + ',' + std::string(word(row.point.launch)) + ',';
  std::string lines;
  for (const Sample& sample : samples)
    lines += begin + std::to_string(sample.round) + ',' + std::to_string(sample.replay) + ',' +
             std::to_string(sample.rank) + ',' + number_text(static_cast<float>(sample.us)) + '\n';
  return lines;
}

}  // namespace

/// Out of the header, which then needs no more of the JSON library than its names.
struct Writer::Document {
  nlohmann::ordered_json json;
};

Writer::Writer(std::filesystem::path folder, const nlohmann::json& environment,
               const nlohmann::json& config, std::chrono::milliseconds interval)
    : folder_(std::move(folder)),
      facts_(run_facts(environment)),
      document_(std::make_unique<Document>()),
      interval_(interval),
      owner_(::getpid()) {
  prepare(folder_);
  start_document(environment, config);
  rows_ = create(folder_, kRows);
  samples_ = create(folder_, kSamples);
  rows_->append(csv_header());
  samples_->append(kSamplesHeader);
  write_json(false);
}

Writer::Writer(std::filesystem::path folder, const Finished& finished,
               const nlohmann::json& environment, const nlohmann::json& config,
               std::chrono::milliseconds interval)
    : folder_(std::move(folder)),
      document_(std::make_unique<Document>()),
      interval_(interval),
      owner_(::getpid()) {
  auto first = nlohmann::json::parse(finished.environment);
  facts_ = run_facts(first);
  first["resumed"].push_back(
      {{"start_time_utc", environment.value("start_time_utc", nlohmann::json())},
       {"argv", environment.value("argv", nlohmann::json())}});
  start_document(first, config);
  std::string lines = csv_header();
  std::set<std::string> names;
  for (const Row& row : finished.rows) {
    lines += csv_line({row, facts_});
    document_->json["rows"].push_back(json_row({row, facts_}));
    names.insert(row.point.name());
  }
  // Samples before rows, as in add(): a cut between the two leaves no row without its samples.
  replace_file(folder_ / kSamples, samples_of(text_of(folder_ / kSamples), names));
  replace_file(folder_ / kRows, lines);
  rows_ = go_on(folder_, kRows);
  samples_ = go_on(folder_, kSamples);
  write_json(false);
}

void Writer::start_document(const nlohmann::json& environment, const nlohmann::json& config) {
  document_->json["schema_version"] = kSchemaVersion;
  document_->json["complete"] = false;
  document_->json["environment"] = environment;
  document_->json["config"] = config;
  document_->json["rows"] = nlohmann::ordered_json::array();
}

Writer::~Writer() {
  if (finished_ || ::getpid() != owner_) return;
  try {
    write_json(false);
  } catch (...) {  // the reason is known to whoever let the run end like this
  }
}

void Writer::add(const Row& row, const std::vector<Sample>& samples) {
  const RowContext context{row, facts_};
  // Samples first: a row in rows.csv then always has all of its samples.
  if (!samples.empty()) samples_->append(sample_lines(row, samples));
  rows_->append(csv_line(context));
  document_->json["rows"].push_back(json_row(context));
  if (std::chrono::steady_clock::now() - written_ >= interval_) write_json(false);
}

void Writer::finish(bool complete, const Seconds* seconds) {
  if (seconds != nullptr)
    document_->json["seconds"] = {
        {"total", seconds->total},   {"workers", seconds->workers}, {"open", seconds->open},
        {"verify", seconds->verify}, {"warm_up", seconds->warm_up}, {"rounds", seconds->rounds},
        {"timed", seconds->timed},   {"close", seconds->close},     {"rows", seconds->rows}};
  write_json(complete);
  finished_ = true;
}

void Writer::write_json(bool complete) {
  document_->json["complete"] = complete;
  replace_file(
      folder_ / kRun,
      document_->json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n');
  written_ = std::chrono::steady_clock::now();
}

}  // namespace arbench
