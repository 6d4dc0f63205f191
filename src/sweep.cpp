#include "sweep.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "arbench/peers.hpp"
#include "option_table.hpp"
#include "option_values.hpp"

namespace arbench {
namespace {

constexpr int kDefaultRanks[] = {2, 4, 8};
constexpr int kDefaultVirtualRanks = 8;

std::string list_text(const std::vector<int>& numbers) {
  std::string text;
  for (int number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

/// Why there is no CUDA device.
std::string no_device(const Machine& machine) {
  std::string why = machine.cuda_error;
  if (why.empty()) why = machine.built_with_cuda ? "none found" : "this build has no CUDA";
  return "no CUDA device answers (" + why + ")";
}

/// Ranks share the first GPU unless the user named devices: there is no other, or the launch style
/// needs it.
bool virtual_by_default(const Options& options, const Machine& machine) {
  return options.devices.empty() && options.virtual_ranks == 0 &&
         (machine.gpus.size() == 1 || options.launch == Launch::grid);
}

/// Host ranks have no devices: their ids are rank numbers, as many as are asked for.
std::vector<int> host_devices(const Options& options, const Machine& machine) {
  const std::string why = options.backend ? "the host backend has no devices" : no_device(machine);
  const std::string instead = "; --gpus N runs N ranks on the host";
  if (options.virtual_ranks > 0)
    refuse({"--virtual", std::to_string(options.virtual_ranks)}, why + instead);
  if (!options.devices.empty()) refuse({"--devices", list_text(options.devices)}, why + instead);
  const int most = options.gpus.empty()
                       ? *std::max_element(std::begin(kDefaultRanks), std::end(kDefaultRanks))
                       : *std::max_element(options.gpus.begin(), options.gpus.end());
  std::vector<int> devices(static_cast<std::size_t>(most), 0);
  if (options.launch != Launch::grid) std::iota(devices.begin(), devices.end(), 0);
  return devices;
}

std::vector<int> cuda_devices(const Options& options, const Machine& machine) {
  if (machine.gpus.empty())
    refuse({"--backend", "cuda"}, no_device(machine) + "; accepts host here");
  std::vector<int> present;
  for (const Gpu& gpu : machine.gpus) present.push_back(gpu.device);
  for (int device : options.devices)
    if (std::find(present.begin(), present.end(), device) == present.end())
      refuse({"--devices", std::to_string(device)},
             "no such device, accepts " + list_text(present));
  const auto& named = options.devices.empty() ? present : options.devices;
  const int ranks =
      virtual_by_default(options, machine) ? kDefaultVirtualRanks : options.virtual_ranks;
  if (ranks > 0) return std::vector<int>(static_cast<std::size_t>(ranks), named.front());
  if (options.devices.size() == 1)
    refuse({"--devices", list_text(named)},
           "one rank reduces nothing, accepts 2 ids or more; --virtual N makes N virtual ranks");
  return named;
}

/// "2 devices here", for messages.
std::string shown_devices(const Options& options, const Machine& machine, int devices) {
  const std::string count = std::to_string(devices);
  if (options.virtual_ranks > 0) return "--virtual makes " + count;
  if (!options.devices.empty()) return "--devices names " + count;
  return count + (virtual_by_default(options, machine) ? " virtual ranks" : " devices") + " here";
}

std::vector<int> rank_counts(const Options& options, const Machine& machine, Backend backend,
                             int devices) {
  for (int ranks : options.gpus)
    if (ranks > devices)
      refuse({"--gpus", std::to_string(ranks)}, shown_devices(options, machine, devices) +
                                                    "; use --virtual " + std::to_string(ranks) +
                                                    " for virtual ranks on one GPU");
  if (!options.gpus.empty()) return options.gpus;
  std::set<int> counts;
  for (int ranks : kDefaultRanks)
    if (ranks <= devices) counts.insert(ranks);
  if (backend == Backend::cuda) counts.insert(devices);
  return {counts.begin(), counts.end()};
}

/// The names that the user's names and globs match, in the order of `known`.
std::vector<std::string> chosen(const std::vector<std::string>& patterns,
                                const std::vector<std::string>& known) {
  if (patterns.empty()) return known;
  const auto matches = [](const std::string& pattern, const std::string& name) {
    return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  };
  for (const std::string& pattern : patterns)
    if (std::none_of(known.begin(), known.end(),
                     [&](const std::string& name) { return matches(pattern, name); }))
      refuse({"--algo", pattern}, "matches no algorithm; accepts globs and " + joined(known) +
                                      did_you_mean(pattern, known));
  std::vector<std::string> names;
  for (const std::string& name : known)
    if (std::any_of(patterns.begin(), patterns.end(),
                    [&](const std::string& pattern) { return matches(pattern, name); }))
      names.push_back(name);
  return names;
}

/// Message sizes for one dtype, ascending, each once.
std::set<std::uint64_t> sizes_of(const Options& options, Dtype dtype) {
  const std::uint64_t element = size_of(dtype);
  std::set<std::uint64_t> sizes;
  for (std::uint64_t bytes : options.sizes) {
    if (bytes > 0 && bytes < element)
      refuse({"--sizes", std::to_string(bytes)}, "less than one " + std::string(word(dtype)) +
                                                     " element, accepts " +
                                                     std::to_string(element) + " bytes or more");
    sizes.insert(bytes - bytes % element);
  }
  for (std::uint64_t elements : options.shape_elements) sizes.insert(elements * element);
  return sizes;
}

/// Case::toolkit of each item of --toolkit.
std::vector<std::string> toolkits_of(const Options& options,
                                     const std::vector<std::string>& nvrtc) {
  std::vector<std::string> toolkits;
  std::size_t next = 0;
  for (const std::string& item : options.toolkits)
    toolkits.push_back(item == "build" ? "" : nvrtc.at(next++));
  return toolkits;
}

/// Run-time compilation is for GPUs.
void refuse_toolkits_on_host(const Options& options, const Machine& machine) {
  for (const std::string& item : options.toolkits)
    if (item != "build")
      refuse({"--toolkit", item},
             "needs the CUDA backend: " +
                 (options.backend ? "--backend host runs host threads" : no_device(machine)) +
                 "; accepts build here");
}

struct Choice {
  std::string algorithm, toolkit;
};

std::vector<Choice> choices(const std::vector<std::string>& names,
                            const std::vector<std::string>& toolkits) {
  std::vector<Choice> all;
  for (const std::string& name : names) {
    const std::size_t count = name.starts_with("nccl_") ? 1 : toolkits.size();
    for (std::size_t i = 0; i < count; ++i)
      all.push_back({name, name.starts_with("nccl_") ? "" : toolkits[i]});
  }
  return all;
}

/// All points of one world, and their contenders.
void add_cases(const Options& options, const std::vector<Choice>& choices, const Case& world,
               std::vector<Case>& cases) {
  Case point = world;
  for (Dtype dtype : options.dtypes)
    for (Placement placement : options.placements)
      for (Mode mode : options.modes)
        for (L2 l2 : options.l2s)
          for (std::uint64_t bytes : sizes_of(options, dtype))
            for (const Choice& choice : choices) {
              point.algorithm = choice.algorithm;
              point.toolkit = choice.toolkit;
              point.dtype = dtype;
              point.placement = placement;
              point.mode = mode;
              point.l2 = l2;
              point.bytes = bytes;
              cases.push_back(point);
            }
}

}  // namespace

Backend resolved_backend(const Options& options, const Machine& machine) {
  return options.backend.value_or(machine.gpus.empty() ? Backend::host : Backend::cuda);
}

Options with_defaults(const Options& options, Backend backend) {
  Options settled = options;
  if (!options.sizes.empty() || !options.shape_elements.empty()) return settled;
  const char* sizes = backend == Backend::host ? kDefaultHostSizes : kDefaultSizes;
  for (const Argument& item : items({"--sizes", sizes}))
    settled.sizes.push_back(to_size(item, true));
  return settled;
}

std::vector<Case> expand(const Options& options, const Machine& machine,
                         const std::vector<std::string>& algorithm_names,
                         const std::vector<std::string>& nvrtc) {
  const Backend backend = resolved_backend(options, machine);
  if (backend == Backend::host) refuse_toolkits_on_host(options, machine);
  const Options settled = with_defaults(options, backend);
  if (const int threads = options.geometry.threads;
      backend == Backend::cuda && threads > 0 && threads < kMinGpuThreads)
    refuse({"--threads", std::to_string(threads)},
           "too few for a GPU, accepts " + std::to_string(kMinGpuThreads) + " to " +
               std::to_string(kMaxThreads) + " there: a block has a thread for each rank");
  const auto devices =
      backend == Backend::host ? host_devices(options, machine) : cuda_devices(options, machine);
  const auto names = chosen(options.algorithms, algorithm_names);
  const auto slowed = [&](const std::string& name) {
    return fnmatch(options.slow_algorithms.c_str(), name.c_str(), 0) == 0;
  };
  if (options.slow_pct > 0 && std::none_of(names.begin(), names.end(), slowed))
    refuse({"--slow", options.slow_algorithms}, "matches none of what runs, " + joined(names));
  const auto all = choices(names, toolkits_of(options, nvrtc));
  Case world;
  world.backend = backend;
  world.launch = options.launch;
  world.transport = options.transport;
  world.geometry = options.geometry;
  std::vector<Case> cases;
  for (int ranks : rank_counts(options, machine, backend, static_cast<int>(devices.size()))) {
    world.devices.assign(devices.begin(), devices.begin() + ranks);
    add_cases(settled, all, world, cases);
  }
  return cases;
}

std::string remark(const Options& options, const Machine& machine) {
  if (resolved_backend(options, machine) == Backend::host)
    return options.backend
               ? ""
               : no_device(machine) + ": host backend, whose times say nothing about a GPU";
  if (machine.gpus.empty() || !virtual_by_default(options, machine)) return "";
  return (machine.gpus.size() == 1 ? "one GPU" : "grid launch") +
         (": virtual ranks on device " + std::to_string(machine.gpus.front().device)) +
         "; no multi-GPU result";
}

int count_points(const std::vector<Case>& cases) {
  int points = 0;
  for (std::size_t i = 0; i < cases.size(); ++i)
    if (i == 0 || !cases[i].same_point(cases[i - 1])) ++points;
  return points;
}

double estimate_seconds(const std::vector<Case>& cases, const Options& options) {
  const int copies = options.aa ? count_points(cases) : 0;
  return static_cast<double>(cases.size() + static_cast<std::size_t>(copies)) *
         (options.row_seconds + kRowOverheadSeconds);
}

}  // namespace arbench
