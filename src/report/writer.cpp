#include "report/writer.hpp"

#include <unistd.h>

#include <nlohmann/json.hpp>
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
  document_->json["schema_version"] = kSchemaVersion;
  document_->json["complete"] = false;
  document_->json["environment"] = environment;
  document_->json["config"] = config;
  document_->json["rows"] = nlohmann::ordered_json::array();
  rows_ = create(folder_, kRows);
  samples_ = create(folder_, kSamples);
  rows_->append(csv_header());
  samples_->append(kSamplesHeader);
  write_json(false);
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

void Writer::finish(bool complete) {
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
