#include "doctor.hpp"

#include <algorithm>
#include <optional>

#include "versions.hpp"

namespace arbench {
namespace {

using Level = Finding::Level;
using Findings = std::vector<Finding>;

constexpr const char* kNcclRows = "the rows nccl_auto, nccl_ring and nccl_tree cannot run";
constexpr std::size_t kPairsNamed = 12;

/// "driver >= 570.26", or by its CUDA version where the table does not know the toolkit.
std::string driver_for(int toolkit) {
  const std::string driver = driver_of_toolkit(toolkit);
  return driver.empty() ? "a driver that supports CUDA " + cuda_text(toolkit)
                        : "driver >= " + driver;
}

std::string any_minor(int toolkit) { return std::to_string(cuda_major(toolkit)) + ".x"; }

/// Why no device can answer, if so. Nothing else about CUDA is worth saying then.
std::optional<Finding> examine_presence(const Machine& m) {
  if (!m.built_with_cuda)
    return Finding{Level::warning, "toolkit",
                   "this build has no CUDA: only --backend host runs" +
                       (m.driver.empty() ? "" : ", though driver " + m.driver + " is here"),
                   "configure again where nvcc of CUDA 12.8 or newer is on PATH"};
  if (m.cuda_error.starts_with(kDiscovery))
    return Finding{Level::problem, "driver", m.cuda_error,
                   "see if nvidia-smi answers and what dmesg says of NVRM; where only the first "
                   "start is slow, turn persistence mode on (nvidia-smi -pm 1)"};
  if (m.driver_cuda > 0) return std::nullopt;
  if (!m.driver.empty())
    return Finding{Level::problem, "driver",
                   "kernel driver " + m.driver + " is loaded, but its libcuda.so.1 is not found",
                   "install the driver's user libraries of the same version; a container needs "
                   "--gpus all and NVIDIA_DRIVER_CAPABILITIES=compute,utility"};
  return Finding{Level::problem, "driver", "no NVIDIA driver: only --backend host runs",
                 "install " + driver_for(m.build_toolkit) + " for this CUDA " +
                     cuda_text(m.build_toolkit) + " build"};
}

/// Driver against toolkit. Sources: CUDA Compatibility, "Minor Version Compatibility" (a toolkit
/// runs on any driver of its major, without PTX newer than the driver) and "backward compatibility"
/// (newer drivers run all).
Finding examine_toolkit(const Machine& m) {
  const int build = m.build_toolkit, driver = m.driver_cuda;
  const std::string both = "driver " + (m.driver.empty() ? "" : m.driver + " ") + "supports CUDA " +
                           cuda_text(driver) + ", this build is CUDA " + cuda_text(build) + ": ";
  if (cuda_major(build) > cuda_major(driver))
    return {Level::problem, "toolkit", both + "another major version, it does not run",
            "install " + driver_for(build) +
                " (>= " + std::to_string(oldest_branch_of_major(cuda_major(build))) + " runs any " +
                any_minor(build) + " cubin), or build with a CUDA " + any_minor(driver) +
                " toolkit"};
  if (build > driver)
    return {Level::warning, "toolkit",
            both +
                "its cubins run by minor version compatibility, its PTX is newer than the driver "
                "and does not load",
            "build cubins for every GPU here, or install " + driver_for(build)};
  if (cuda_major(driver) > cuda_major(build))
    return {Level::note, "toolkit",
            both + "it runs, and a " + any_minor(driver) + " toolkit needs no driver change",
            "to compare, build a second tree with CUDA " + any_minor(driver) +
                "; cubins and PTX both load up to CUDA " + cuda_text(driver)};
  return {Level::ok, "toolkit", both + "cubins and PTX both load", ""};
}

Finding examine_code(const Machine& m, const Gpu& gpu) {
  const std::string number = std::to_string(gpu.major) + std::to_string(gpu.minor);
  const std::string target = "sm_" + number;
  const std::string rebuild =
      "configure with -DARBENCH_ARCHITECTURES=" + number +
      // CUDA 12.8 release notes: the first toolkit that compiles for Blackwell.
      (gpu.major >= 10 && m.build_toolkit < 12080 ? " and CUDA 12.8 or newer" : "");
  if (gpu.has_code && gpu.code.ends_with("PTX"))
    return {Level::warning, "code",
            target + " has no cubin here, only " + gpu.code +
                ": the driver compiles it at the first launch, which is slow",
            rebuild + "; first launches are not in any measured time"};
  if (gpu.has_code) return {Level::ok, "code", target + " runs the " + gpu.code, ""};
  if (holds_cubin(m.architectures, gpu.major, gpu.minor))
    return {Level::problem, "code",
            "this binary holds a cubin for " + target +
                ", but a 1-thread kernel did not run: " + gpu.code,
            "see if nvidia-smi shows the GPU busy, in exclusive mode or in an error state"};
  if (!holds_ptx(m.architectures, gpu.major, gpu.minor))
    return {Level::problem, "code",
            "this binary holds no cubin and no PTX for " + target + " (" + gpu.code + ")", rebuild};
  if (m.build_toolkit > m.driver_cuda)
    return {Level::problem, "code",
            "this binary holds only PTX for " + target + ", and PTX of CUDA " +
                cuda_text(m.build_toolkit) + " is newer than the driver's " +
                cuda_text(m.driver_cuda) + " (" + gpu.code + ")",
            rebuild + ", or install " + driver_for(m.build_toolkit)};
  return {Level::problem, "code",
          "this binary holds PTX for " + target + ", but it did not run: " + gpu.code, rebuild};
}

std::optional<Finding> examine_link(const Gpu& gpu) {
  if (gpu.link_generation == 0 || gpu.max_link_generation == 0) return std::nullopt;
  const std::string now = link_text(gpu.link_generation, gpu.link_width);
  if (gpu.link_generation >= gpu.max_link_generation && gpu.link_width >= gpu.max_link_width)
    return Finding{Level::ok, "link", "PCIe link is " + now + ", its maximum", ""};
  const bool narrow = gpu.link_width < gpu.max_link_width;
  return Finding{narrow ? Level::warning : Level::note, "link",
                 "PCIe link is " + now + " now, " +
                     link_text(gpu.max_link_generation, gpu.max_link_width) +
                     " at most: it may be idle; under load is what counts",
                 std::string("arbench run reads it while data flow: columns pcie_gen, pcie_width") +
                     (narrow ? "; if it stays, check slot, riser and bifurcation" : "")};
}

/// One finding for all GPUs of which the same is true: "GPU 0, 1: ...".
template <class Examine>
void examine_each(const Machine& m, Examine examine_one, Findings& findings) {
  std::vector<std::pair<Finding, std::string>> groups;
  for (const Gpu& gpu : m.gpus) {
    const std::optional<Finding> one = examine_one(gpu);
    if (!one) continue;
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const auto& group) { return group.first == *one; });
    if (same == groups.end())
      groups.emplace_back(*one, "GPU " + std::to_string(gpu.device));
    else
      same->second += ", " + std::to_string(gpu.device);
  }
  for (auto& [finding, gpus] : groups) {
    finding.text = gpus + ": " + finding.text;
    findings.push_back(std::move(finding));
  }
}

/// NCCL against driver and build. NCCL is linked with the static runtime of its own toolkit, so what
/// counts is the driver; another major than the build's matters only to who compares builds.
std::optional<Finding> examine_nccl_toolkit(const Machine& m) {
  const int nccl = m.nccl_toolkit, driver = m.driver_cuda;
  if (nccl == 0 || driver == 0) return std::nullopt;
  const std::string built = "NCCL " + nccl_text(m.nccl_library) + " (" + m.nccl_path +
                            ") is built with CUDA " + cuda_text(nccl);
  if (cuda_major(nccl) > cuda_major(driver))
    return Finding{
        Level::warning, "nccl",
        built + ", the driver supports CUDA " + cuda_text(driver) + " at most: " + kNcclRows,
        "pip install nvidia-nccl-cu" + std::to_string(cuda_major(driver)) +
            " and give its libnccl.so.2 with --nccl-lib, or install " + driver_for(nccl)};
  if (cuda_major(nccl) != cuda_major(m.build_toolkit))
    return Finding{Level::note, "nccl",
                   built + ", this build with " + cuda_text(m.build_toolkit) +
                       ": it runs, with a CUDA runtime of its own",
                   "to compare builds, give all of them the same library with --nccl-lib"};
  return std::nullopt;
}

void examine_nccl(const Machine& m, Findings& findings) {
  const std::string wheel =
      "nvidia-nccl-cu" + std::to_string(std::max(cuda_major(m.build_toolkit), 12));
  if (m.nccl_header == 0)
    findings.push_back({Level::warning, "nccl", std::string("built without nccl.h: ") + kNcclRows,
                        "install libnccl-dev, or pip install " + wheel + ", and configure again"});
  if (m.nccl_library == 0) {
    findings.push_back({Level::warning, "nccl",
                        std::string("no NCCL library: ") + kNcclRows +
                            (m.nccl_error.empty() ? "" : " (" + m.nccl_error + ")"),
                        "pip install " + wheel + ", or give --nccl-lib PATH or ARBENCH_NCCL_LIB"});
    return;
  }
  const std::string library = "NCCL " + nccl_text(m.nccl_library) + " (" + m.nccl_path + ")";
  // NCCL asks for more shared memory per block than sm_120 has (82240 > 79856 bytes) before 2.26.2:
  // https://github.com/NVIDIA/nccl/issues/1637, https://github.com/NVIDIA/nccl-tests/issues/287
  const bool blackwell =
      std::any_of(m.gpus.begin(), m.gpus.end(), [](const Gpu& gpu) { return gpu.major == 12; });
  const bool too_old = blackwell && m.nccl_library < 22602;
  const bool other_major = m.nccl_header && nccl_major(m.nccl_header) != nccl_major(m.nccl_library);
  if (other_major)
    findings.push_back({Level::problem, "nccl",
                        library + " is of another major version than the header of this build, " +
                            nccl_text(m.nccl_header) + ": " + kNcclRows,
                        "give a library of NCCL " + std::to_string(nccl_major(m.nccl_header)) +
                            ".x with --nccl-lib, or configure again with its own nccl.h"});
  if (too_old)
    findings.push_back({Level::warning, "nccl",
                        library + " is older than 2.26.2, the first that works on sm_120",
                        "pip install -U " + wheel + " and give its libnccl.so.2 with --nccl-lib"});
  const auto toolkit = examine_nccl_toolkit(m);
  if (toolkit) findings.push_back(*toolkit);
  if (m.nccl_header && !other_major && !too_old && !toolkit)
    findings.push_back({Level::ok, "nccl", library + ", header " + nccl_text(m.nccl_header), ""});
}

/// "0-1" where neither can, "0->1" where only this direction cannot.
std::vector<std::string> pairs_without_access(const Machine& m) {
  std::vector<std::string> pairs;
  const auto& can = m.peer_access;
  for (std::size_t i = 0; i < can.size(); ++i)
    for (std::size_t j = i + 1; j < can.size(); ++j) {
      const std::string a = std::to_string(m.gpus[i].device), b = std::to_string(m.gpus[j].device);
      if (!can[i][j] && !can[j][i]) pairs.push_back(a + "-" + b);
      if (!can[i][j] && can[j][i]) pairs.push_back(a + "->" + b);
      if (can[i][j] && !can[j][i]) pairs.push_back(b + "->" + a);
    }
  return pairs;
}

void examine_peers(const Machine& m, Findings& findings) {
  if (m.gpus.size() < 2) return;
  const auto pairs = pairs_without_access(m);
  if (pairs.empty()) {
    findings.push_back({Level::ok, "peers",
                        "every pair of GPUs has peer access, as the driver says; only data that "
                        "arrive prove it",
                        ""});
    return;
  }
  std::string list;
  for (std::size_t i = 0; i < std::min(pairs.size(), kPairsNamed); ++i)
    list += (i ? ", " : "") + pairs[i];
  if (pairs.size() > kPairsNamed)
    list += " and " + std::to_string(pairs.size() - kPairsNamed) + " more";
  findings.push_back({Level::warning, "peers",
                      "no peer access between GPUs " + list + ": p2p rows over them cannot run",
                      "see nvidia-smi topo -p2p rw; turn IOMMU and ACS off in the BIOS, and check "
                      "that this GPU and driver allow P2P"});
}

}  // namespace

std::vector<Finding> examine(const Machine& m) {
  Findings findings;
  if (const auto absent = examine_presence(m))
    findings.push_back(*absent);
  else
    findings.push_back(examine_toolkit(m));
  if (!m.built_with_cuda) return findings;
  if (m.driver_cuda > 0 && m.gpus.empty() && !m.cuda_error.starts_with(kDiscovery))
    findings.push_back(
        {Level::problem, "devices", "no device answers: " + m.cuda_error,
         "check nvidia-smi -L, CUDA_VISIBLE_DEVICES and, in a container, --gpus all"});
  examine_each(
      m, [&](const Gpu& gpu) { return examine_code(m, gpu); }, findings);
  examine_nccl(m, findings);
  examine_each(m, examine_link, findings);
  for (Finding& finding : examine_settings(m.gpus)) findings.push_back(std::move(finding));
  examine_peers(m, findings);
  if (m.gpus.size() == 1 && !m.mps)
    findings.push_back({Level::note, "mps",
                        "no MPS daemon: processes that share a GPU take turns on it",
                        "for --launch processes on one GPU, start nvidia-cuda-mps-control -d"});
  return findings;
}

}  // namespace arbench
