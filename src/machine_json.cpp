#include "machine_json.hpp"

#include <nlohmann/json.hpp>

namespace arbench {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Gpu, device, name, pci_bus_id, major, minor, multiprocessors,
                                   memory_bytes, free_bytes, l2_bytes, has_code, code,
                                   link_generation, link_width, max_link_generation, max_link_width,
                                   own_link_generation, nvlinks, memory_bytes_per_second,
                                   persistence, sm_locked, power_limit_w, default_power_limit_w,
                                   sm_mhz, max_sm_mhz)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Machine, built_with_cuda, build_toolkit, driver_cuda, runtime,
                                   driver, cuda_error, virtual_machine, mps, architectures,
                                   nccl_header, nccl_library, nccl_toolkit, nccl_path, nccl_error,
                                   gpus, peer_access)

nlohmann::json machine_to_json(const Machine& machine) { return machine; }

Machine machine_from_json(const nlohmann::json& json) { return json.get<Machine>(); }

}  // namespace arbench
