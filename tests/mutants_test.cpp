// Runs the deliberately broken protocols of tests/mutants and expects each to be noticed.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

namespace arbench {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kRacesShow = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool kRacesShow = true;
#else
constexpr bool kRacesShow = false;
#endif
#else
constexpr bool kRacesShow = false;
#endif

int exit_code_of(const std::string& mutant) {
  const std::string command =
      "TSAN_OPTIONS=halt_on_error=1 timeout 120 " ARBENCH_MUTANTS " " + mutant + " >/dev/null 2>&1";
  const int state = std::system(command.c_str());
  return WIFEXITED(state) ? WEXITSTATUS(state) : 128;
}

/// Wrong data, a rank that waits in vain, or a race report; up to 3 runs, since some need the right
/// interleaving.
bool caught(const std::string& mutant) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    const int code = exit_code_of(mutant);
    if (code == 1 || code == 66) return true;  // 66 is ThreadSanitizer's own
    if (code != 0) ADD_FAILURE() << mutant << " ended with " << code;
  }
  return false;
}

TEST(Mutants, UnbrokenAlgorithmsPassTheSameRun) { EXPECT_EQ(exit_code_of("control"), 0); }

/// The ten that are named here, and the four that are not broken.
TEST(Mutants, AreAllRun) {
  EXPECT_EQ(std::system("test \"$(" ARBENCH_MUTANTS " list | wc -l)\" = 14"), 0);
}

/// These give wrong data or hang whatever the interleaving, so every build catches them.
TEST(Mutants, WrongDataAndSilenceAreCaughtByVerification) {
  for (const char* mutant : {"push_no_reset", "push_single_buffer", "never_signals"})
    EXPECT_TRUE(caught(mutant)) << mutant;
}

/// Values are right on most runs, or always on x86: only the race report is sure to tell.
TEST(Mutants, MissingOrderIsCaughtByThreadSanitizer) {
  if (!kRacesShow) GTEST_SKIP() << "needs a ThreadSanitizer build: the preset tsan runs it";
  for (const char* mutant :
       {"pull_relaxed_flag", "two_shot_relaxed_flag", "ring_relaxed_flag", "two_shot_no_block_sync",
        "ring_no_block_sync", "pull_no_end_barrier", "pull_no_start_barrier"})
    EXPECT_TRUE(caught(mutant)) << mutant;
}

}  // namespace
}  // namespace arbench
