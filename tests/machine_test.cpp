#include "machine.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "machine_json.hpp"
#include "mps.hpp"
#include "nccl_library.hpp"
#include "nvml.hpp"

namespace arbench {
namespace {

namespace fs = std::filesystem;

/// A folder that goes with the test, and variables that come back as they were.
class Scratch : public ::testing::Test {
 protected:
  Scratch() : folder_(fs::temp_directory_path() / ("arbench_test_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~Scratch() override {
    for (; !saved_.empty(); saved_.pop_back()) {
      const auto& [name, value] = saved_.back();
      value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
    }
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  void set(const std::string& name, const std::string& value) {
    const char* old = std::getenv(name.c_str());
    saved_.emplace_back(name, old ? std::optional<std::string>(old) : std::nullopt);
    setenv(name.c_str(), value.c_str(), 1);
  }
  fs::path write(const fs::path& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  fs::path folder_;
  std::vector<std::pair<std::string, std::optional<std::string>>> saved_;
};
using Discover = Scratch;
using Nccl = Scratch;
using Mps = Scratch;

std::string own_maps() {
  std::ifstream file("/proc/self/maps");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(Discover, EitherDevicesOrAReason) {
  const Machine machine = discover("");
  EXPECT_EQ(machine.gpus.empty(), !machine.cuda_error.empty()) << machine.cuda_error;
  EXPECT_EQ(machine.peer_access.size(), machine.gpus.size());
  EXPECT_EQ(machine.nccl_library == 0, !machine.nccl_error.empty()) << machine.nccl_error;
  for (const Gpu& gpu : machine.gpus) {
    EXPECT_GE(gpu.major, 5);
    EXPECT_FALSE(gpu.code.empty());
    EXPECT_TRUE(machine.peer_access[gpu.device][gpu.device]);
  }
}

TEST_F(Discover, LeavesNoDriverInThisProcess) {
  discover("");
  const std::string maps = own_maps();
  EXPECT_EQ(maps.find("libcuda.so"), std::string::npos);
  EXPECT_EQ(maps.find("libnvidia-ml"), std::string::npos);
  EXPECT_EQ(maps.find("libnccl"), std::string::npos);
}

TEST_F(Discover, ABadNcclPathIsRecorded) {
  const Machine machine = discover("/no/such/libnccl.so.2");
  EXPECT_EQ(machine.nccl_library, 0);
  EXPECT_EQ(machine.nccl_path, "");
  EXPECT_NE(machine.nccl_error.find("/no/such/libnccl.so.2"), std::string::npos);
}

TEST(MachineJson, KeepsEveryField) {
  Machine machine;
  machine.built_with_cuda = true;
  machine.build_toolkit = 12080;
  machine.driver_cuda = 13010;
  machine.runtime = 12080;
  machine.driver = "590.48.01";
  machine.cuda_error = "none";
  machine.mps = true;
  machine.architectures = {"sm_120", "compute_120"};
  machine.nccl_header = 22809;
  machine.nccl_library = 22703;
  machine.nccl_toolkit = 12090;
  machine.nccl_path = "/opt/libnccl.so.2";
  machine.nccl_error = "odd";
  machine.gpus = {{0, "A", "0000:01:00.0", 12, 0, 188, 9, 8, 7, true, "sm_120 cubin", 1, 16, 5, 16,
                   5, 0, 1.8e12}};
  machine.virtual_machine = true;
  machine.peer_access = {{true, false}, {false, true}};
  const Machine again = machine_from_json(nlohmann::json::parse(machine_to_json(machine).dump()));
  EXPECT_EQ(machine_to_json(again), machine_to_json(machine));
  EXPECT_EQ(again.gpus.at(0).max_link_generation, 5);
  EXPECT_EQ(again.peer_access, machine.peer_access);
  EXPECT_EQ(again.gpus.at(0).memory_bytes_per_second, 1.8e12);
  EXPECT_EQ(machine_to_json(again).size(), 16U);
}

TEST_F(Nccl, APathThatIsAbsentIsNotReplacedByAnother) {
  const NcclLibrary library = open_nccl("/no/such/libnccl.so.2");
  EXPECT_FALSE(library);
  EXPECT_EQ(library.version, 0);
  EXPECT_NE(library.error.find("/no/such/libnccl.so.2"), std::string::npos) << library.error;
}

TEST_F(Nccl, AFileThatIsNoLibraryIsAnError) {
  const NcclLibrary library = open_nccl(write("libnccl.so.2", "not a library"));
  EXPECT_FALSE(library);
  EXPECT_NE(library.error.find("libnccl.so.2"), std::string::npos) << library.error;
}

TEST_F(Nccl, ALibraryWithoutNcclsFunctionsIsAnError) {
  const NcclLibrary library = open_nccl("libm.so.6");
  EXPECT_FALSE(library);
  EXPECT_EQ(library.error,
            "libm.so.6 has no function ncclGetVersion: not an NCCL that arbench can use");
}

TEST_F(Nccl, TheToolkitStandsInItsFile) {
  const std::string text = std::string(5 << 20, '\0') + "NCCL version 2.28.9+cuda13.0";
  EXPECT_EQ(nccl_toolkit(write("libnccl.so.2", text).string()), 13000);
  EXPECT_EQ(nccl_toolkit(write("libother.so", "NCCL").string()), 0);
  EXPECT_EQ(nccl_toolkit("/no/such/libnccl.so.2"), 0);
}

TEST_F(Nccl, TheEnvironmentsPathIsNamedWhenItFails) {
  set("ARBENCH_NCCL_LIB", "/no/such/either.so");
  const NcclLibrary library = open_nccl();
  EXPECT_NE(library.error.find("/no/such/either.so"), std::string::npos);
  EXPECT_NE(library.error.find("(set by ARBENCH_NCCL_LIB)"), std::string::npos);
}

TEST_F(Nccl, TheOptionComesBeforeTheEnvironment) {
  set("ARBENCH_NCCL_LIB", "/no/such/either.so");
  EXPECT_EQ(open_nccl("/no/such/one.so").error.find("either.so"), std::string::npos);
}

TEST_F(Nccl, FindsTheWheelOfAVirtualEnvironmentFirst) {
  const fs::path wheel = write("lib/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2", "");
  set("VIRTUAL_ENV", folder_);
  const auto wheels = nccl_wheels();
  ASSERT_FALSE(wheels.empty());
  EXPECT_EQ(wheels.front(), wheel);
}

TEST_F(Nccl, FindsTheWheelOfThePythonOnPath) {
  const fs::path wheel = write("lib/python3.11/dist-packages/nvidia/nccl/lib/libnccl.so.2", "");
  write("bin/python3", "");
  set("CONDA_PREFIX", "");
  set("VIRTUAL_ENV", "");
  set("PATH", (folder_ / "none").string() + ":" + (folder_ / "bin").string());
  const auto wheels = nccl_wheels();
  ASSERT_FALSE(wheels.empty());
  EXPECT_EQ(wheels.front(), wheel);
}

TEST(NvmlTest, AbsentLibraryAnswersUnknown) {
  const Nvml nvml("libno-such-nvml.so.1");
  EXPECT_FALSE(nvml);
  EXPECT_EQ(nvml.driver_version(), "");
  EXPECT_EQ(nvml.link("0000:01:00.0").max_width, 0);
}

/// A socket bound and listening at folder/control, of the given type.
class Listener {
 public:
  Listener(const fs::path& folder, int type) : fd_(socket(AF_UNIX, type, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (folder / "control").string().copy(address.sun_path, sizeof address.sun_path - 1);
    bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    listen(fd_, 1);
  }
  ~Listener() { close(fd_); }

 private:
  int fd_;
};

TEST_F(Mps, NobodyListens) {
  EXPECT_FALSE(mps_daemon_listens(folder_ / "absent"));
  write("control", "a plain file");
  EXPECT_FALSE(mps_daemon_listens(folder_));
}

TEST_F(Mps, ADaemonListens) {
  const Listener daemon(folder_, SOCK_SEQPACKET);
  EXPECT_TRUE(mps_daemon_listens(folder_));
}

TEST_F(Mps, ADaemonListensBySocketOfAnotherType) {
  const Listener daemon(folder_, SOCK_STREAM);
  EXPECT_TRUE(mps_daemon_listens(folder_));
}

TEST_F(Mps, ADeadDaemonsSocketIsNotADaemon) {
  { const Listener daemon(folder_, SOCK_SEQPACKET); }
  EXPECT_TRUE(fs::exists(folder_ / "control"));
  EXPECT_FALSE(mps_daemon_listens(folder_));
}

TEST_F(Mps, PipeDirectoryFromTheEnvironment) {
  set("CUDA_MPS_PIPE_DIRECTORY", "/tmp/elsewhere");
  EXPECT_EQ(mps_pipe_directory(), "/tmp/elsewhere");
  set("CUDA_MPS_PIPE_DIRECTORY", "");
  EXPECT_EQ(mps_pipe_directory(), "/tmp/nvidia-mps");
}

}  // namespace
}  // namespace arbench
