#include "environment.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "system_facts.hpp"

namespace arbench {
namespace {

using nlohmann::json;

TEST(RecordedVariables, OnlyThoseOfTheAllowList) {
  const char* const variables[] = {
      "NCCL_ALGO=Ring", "CUDA_VISIBLE_DEVICES=0,1", "ARBENCH_NCCL_LIB=", "HOME=/home/somebody",
      "AWS_REGION=x",   "MY_NCCL_ALGO=Tree",        "NCCL_NO_EQUALS",    "CUDA_X=a=b",
      nullptr};
  EXPECT_EQ(recorded_variables(variables), (json{{"NCCL_ALGO", "Ring"},
                                                 {"CUDA_VISIBLE_DEVICES", "0,1"},
                                                 {"ARBENCH_NCCL_LIB", ""},
                                                 {"CUDA_X", "a=b"}}));
}

TEST(RecordedVariables, ValuesOfSecretsAreLeftOut) {
  const char* const variables[] = {"NCCL_TOKEN=hunter2",       "CUDA_API_KEY=hunter2",
                                   "ARBENCH_SECRET_X=hunter2", "NCCL_DB_PASSWORD=hunter2",
                                   "CUDA_Auth_Header=hunter2", "NCCL_CREDENTIALS=hunter2",
                                   "ARBENCH_passwd=hunter2",   nullptr};
  const json recorded = recorded_variables(variables);
  EXPECT_EQ(recorded.size(), 7U);
  for (const auto& [name, value] : recorded.items()) EXPECT_TRUE(value.is_null()) << name;
  EXPECT_EQ(recorded.dump().find("hunter2"), std::string::npos);
}

TEST(RecordedVariables, NoneAtAll) {
  const char* const variables[] = {nullptr};
  EXPECT_EQ(recorded_variables(variables), json::object());
  EXPECT_EQ(recorded_variables(nullptr), json::object());
}

TEST(Environment, HoldsWhatTheMachineIs) {
  Machine machine;
  machine.build_toolkit = 12080;
  machine.driver_cuda = 13010;
  machine.driver = "590.48.01";
  machine.nccl_library = 22809;
  machine.nccl_toolkit = 13000;
  machine.nccl_path = "/opt/libnccl.so.2";
  machine.gpus.resize(2);
  machine.gpus[0].name = "A";
  machine.gpus[0].pci_bus_id = "ffff:ff:1f.7";
  machine.peer_access = {{true, false}, {false, true}};
  const json facts = environment(machine, {"arbench", "-b", "8"});
  EXPECT_EQ(facts["argv"], (json{"arbench", "-b", "8"}));
  EXPECT_EQ(facts["cuda"]["toolkit"], "12.8");
  EXPECT_EQ(facts["cuda"]["driver"], "590.48.01");
  EXPECT_EQ(facts["cuda"]["driver_supports"], "13.1");
  EXPECT_EQ(facts["cuda"]["runtime"], nullptr);
  EXPECT_EQ(facts["nccl"]["library"], "2.28.9");
  EXPECT_EQ(facts["nccl"]["toolkit"], "13.0");
  EXPECT_EQ(facts["nccl"]["header"], nullptr);
  EXPECT_EQ(facts["gpus"][0]["name"], "A");
  EXPECT_EQ(facts["gpus"][0]["pci"]["numa_node"], nullptr);
  EXPECT_EQ(facts["peer_access"], (json{{true, false}, {false, true}}));
  EXPECT_EQ(facts["start_time_utc"].get<std::string>().size(), 20U);
  for (const char* key : {"version", "git_commit", "git_dirty", "compiler", "build_type"})
    EXPECT_TRUE(facts["arbench"].contains(key)) << key;
}

TEST(Environment, HoldsNoSecretHostOrUser) {
  setenv("NCCL_SECRET", "hunter2", 1);
  setenv("SOMETHING_ELSE", "hunter2", 1);
  const json facts = environment(Machine{}, {"arbench"});
  unsetenv("NCCL_SECRET");
  unsetenv("SOMETHING_ELSE");
  EXPECT_EQ(facts["variables"]["NCCL_SECRET"], nullptr);
  EXPECT_EQ(facts.dump().find("hunter2"), std::string::npos);
  EXPECT_FALSE(facts["system"].contains("hostname"));
}

TEST(Environment, DumpsWhateverTheBytes) {
  const json facts = environment(Machine{}, {"arbench", "\xff\xfe"});
  EXPECT_NO_THROW(facts.dump());
}

/// A tree of files such as the kernel shows, that goes with the test.
class System : public ::testing::Test {
 protected:
  System()
      : root_(std::filesystem::temp_directory_path() /
              ("arbench_system_" + std::to_string(getpid()))) {}
  ~System() override {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  void write(const std::string& name, const std::string& text) {
    const auto path = root_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::filesystem::path root_;
};

TEST_F(System, ReadsItsFiles) {
  write("etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  write("proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC 9575F 64-Core Processor\n");
  write("proc/cmdline", "root=UUID=1 iommu=pt amd_iommu=on login_token=hunter2 pci=realloc\n");
  write("sys/devices/system/node/node0/cpulist", "0-63\n");
  write("sys/devices/system/node/node1/cpulist", "64-127\n");
  write("sys/devices/system/node/possible", "0-1\n");
  write("sys/kernel/iommu_groups/0/type", "identity\n");
  const json facts = system_facts(root_);
  EXPECT_EQ(facts["os"], "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(facts["cpu_model"], "AMD EPYC 9575F 64-Core Processor");
  EXPECT_EQ(facts["numa_nodes"], 2);
  EXPECT_EQ(facts["iommu"]["groups"], 1);
  EXPECT_EQ(facts["iommu"]["units"], nullptr);
  EXPECT_EQ(facts["iommu"]["kernel_options"], (json{"iommu=pt", "amd_iommu=on", "pci=realloc"}));
  EXPECT_EQ(facts.dump().find("hunter2"), std::string::npos);
}

TEST_F(System, AbsentFilesAreNull) {
  const json facts = system_facts(root_);
  EXPECT_EQ(facts["os"], nullptr);
  EXPECT_EQ(facts["numa_nodes"], nullptr);
  EXPECT_EQ(facts["iommu"]["kernel_options"], json::array());
}

TEST_F(System, PciFactsOfAGpu) {
  write("sys/bus/pci/devices/0000:c1:00.0/numa_node", "1\n");
  write("sys/bus/pci/devices/0000:c1:00.0/iommu_group/type", "DMA-FQ\n");
  write("sys/bus/pci/devices/0000:c1:00.0/max_link_speed", "32.0 GT/s PCIe\n");
  const json facts = pci_facts(root_, "0000:C1:00.0");
  EXPECT_EQ(facts["numa_node"], 1);
  EXPECT_EQ(facts["iommu_group_type"], "DMA-FQ");
  EXPECT_EQ(facts["max_link_speed"], "32.0 GT/s PCIe");
  EXPECT_EQ(facts["current_link_width"], nullptr);
}

}  // namespace
}  // namespace arbench
