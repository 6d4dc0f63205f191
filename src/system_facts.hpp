// What the kernel says of this system under /proc, /sys and /etc, by allow-list. Absent facts are
// null. `root` comes before every path; it is empty but in tests. Thread safety: only reads files.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace arbench {

/// kernel, machine, os, cpu_model, cpus, numa_nodes, governor, and iommu {units, groups,
/// kernel_options}. Of the kernel's command line only IOMMU and PCI options are kept; the rest may
/// hold anything.
nlohmann::json system_facts(const std::string& root);

/// numa_node (-1: the kernel does not know), iommu_group_type ("identity" passes addresses through;
/// "DMA" and "DMA-FQ" translate, which costs peer transfers), current and maximal link speed and
/// width in sysfs's words. `pci_bus_id` as CUDA writes it, upper or lower case: "0000:C1:00.0".
nlohmann::json pci_facts(const std::string& root, const std::string& pci_bus_id);

}  // namespace arbench
