#include <iomanip>
#include <sstream>

#include "doctor.hpp"
#include "versions.hpp"

namespace arbench {
namespace {

constexpr int kLabelWidth = 16;
constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr double kMiB = 1024.0 * 1024;

void fact(std::ostream& out, const std::string& label, const std::string& text) {
  out << "  " << std::left << std::setw(kLabelWidth) << label << text << "\n";
}

std::string or_none(int version, std::string (*text)(int)) {
  return version ? text(version) : "none";
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const auto& word : words) all += (all.empty() ? "" : " ") + word;
  return all.empty() ? "not recorded" : all;
}

std::string link_facts(const Gpu& gpu) {
  if (gpu.link_generation == 0) return "unknown (no NVML)";
  return link_text(gpu.link_generation, gpu.link_width) + " now, " +
         link_text(gpu.max_link_generation, gpu.max_link_width) +
         " at most (an idle link may read lower)";
}

void version_facts(std::ostream& out, const Machine& m) {
  fact(out, "driver",
       m.driver_cuda || !m.driver.empty()
           ? (m.driver.empty() ? "version unknown" : m.driver) + ", supports CUDA " +
                 or_none(m.driver_cuda, cuda_text)
           : "none");
  fact(out, "toolkit", or_none(m.build_toolkit, cuda_text) + " (of this build)");
  fact(out, "runtime", or_none(m.runtime, cuda_text));
  fact(out, "built for", joined(m.architectures));
  fact(out, "NCCL header", or_none(m.nccl_header, nccl_text));
  fact(out, "NCCL library",
       m.nccl_library ? nccl_text(m.nccl_library) + "  " + m.nccl_path : "none");
  if (m.nccl_toolkit) fact(out, "NCCL toolkit", cuda_text(m.nccl_toolkit));
  fact(out, "MPS", m.mps ? "answers" : "no");
  if (!m.cuda_error.empty()) fact(out, "CUDA", m.cuda_error);
}

void gpu_facts(std::ostream& out, const Gpu& gpu) {
  std::ostringstream memory;
  memory << std::fixed << std::setprecision(1) << static_cast<double>(gpu.memory_bytes) / kGiB
         << " GiB (" << static_cast<double>(gpu.free_bytes) / kGiB << " free), L2 "
         << std::setprecision(0) << static_cast<double>(gpu.l2_bytes) / kMiB << " MiB";
  fact(out, "GPU " + std::to_string(gpu.device), gpu.name + ", " + gpu.pci_bus_id);
  fact(out, "",
       "compute capability " + std::to_string(gpu.major) + "." + std::to_string(gpu.minor) + ", " +
           std::to_string(gpu.multiprocessors) + " SMs, " + memory.str());
  fact(out, "", "code: " + (gpu.has_code ? gpu.code : "none runs (" + gpu.code + ")"));
  fact(out, "", "PCIe link: " + link_facts(gpu));
}

/// A row per device that reads or writes, a column per device that holds the memory.
void peer_facts(std::ostream& out, const Machine& m) {
  if (m.peer_access.size() < 2) return;
  std::string header = "from\\to";
  for (const Gpu& gpu : m.gpus) header += "  " + std::to_string(gpu.device);
  fact(out, "peer access", header);
  for (std::size_t from = 0; from < m.peer_access.size(); ++from) {
    std::ostringstream line;
    line << std::setw(7) << m.gpus[from].device;
    for (std::size_t to = 0; to < m.peer_access[from].size(); ++to)
      line << "  " << std::setw(static_cast<int>(std::to_string(m.gpus[to].device).size()))
           << (from == to                ? "-"
               : m.peer_access[from][to] ? "y"
                                         : "N");
    fact(out, "", line.str());
  }
}

std::string level_text(Finding::Level level) {
  switch (level) {
    case Finding::Level::ok:
      return "ok";
    case Finding::Level::note:
      return "note";
    case Finding::Level::warning:
      return "warning";
    case Finding::Level::problem:
      break;
  }
  return "problem";
}

}  // namespace

std::string doctor_report(const Machine& machine) {
  std::ostringstream out;
  out << "facts\n";
  version_facts(out, machine);
  for (const Gpu& gpu : machine.gpus) gpu_facts(out, gpu);
  peer_facts(out, machine);
  out << "\nverdict\n";
  for (const Finding& finding : examine(machine)) {
    out << "  " << std::left << std::setw(9) << level_text(finding.level) << finding.topic << ": "
        << finding.text << "\n";
    if (!finding.what_to_do.empty()) out << "           do: " << finding.what_to_do << "\n";
  }
  return out.str();
}

}  // namespace arbench
