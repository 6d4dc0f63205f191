// Sides made of numbers, and folders as `arbench run --out` writes them, as far as a comparison reads them.
#pragma once

#include <fstream>

#include "compare/result_set.hpp"
#include "disk.hpp"

namespace arbench::compare {

inline Entry entry(const std::string& algorithm, std::vector<std::vector<double>> rounds) {
  Entry entry;
  entry.key = {{"algo", algorithm}, {"bytes", "1024"}, {"virtual", "0"}, {"backend", "cuda"}};
  entry.name = algorithm + "/1024";
  entry.samples = std::move(rounds);
  return entry;
}

inline ResultSet launch(std::vector<Entry> entries) { return {"x", {}, std::move(entries)}; }

inline const std::string kHeader =
    "schema_version,algo,ngpus,dtype,bytes,name,lat_us_median,status,reason,virtual,backend\n";

inline void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

/// Two algorithms of 1 KiB, of which the second hung unless it has times, in rounds of one sample.
inline void write_folder(const std::filesystem::path& folder, const std::string& toolkit,
                         const std::vector<std::string>& ring) {
  write(folder / "rows.csv", kHeader + "1,ring,2,bf16,1024,ring/1024," + ring[0] +
                                 ",ok,,0,cuda\n1,tree,2,bf16,1024,tree/1024,,hung,no end,0,cuda\n");
  std::string samples = "name,launch,round,rank,us\n";
  for (std::size_t i = 0; i < ring.size(); ++i)
    samples += "ring/1024,," + std::to_string(i) + ",-1," + ring[i] + "\n";
  write(folder / "samples.csv", samples);
  write(folder / "run.json", R"({"environment": {"cuda": {"toolkit": ")" + toolkit + R"("}}})");
}

}  // namespace arbench::compare
