#include "forked.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <string>
#include <thread>

namespace arbench {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kLong{20000};

TEST(Forked, GivesWhatTheWorkReturned) {
  const Answer answer = ask_child("work", kLong, [] { return std::string("7"); });
  EXPECT_EQ(answer.text, "7");
  EXPECT_EQ(answer.error, "");
}

TEST(Forked, TextLongerThanAPipeHoldsComesWhole) {
  const std::string text(1 << 20, 'x');
  EXPECT_EQ(ask_child("work", kLong, [&] { return text; }).text, text);
}

TEST(Forked, WorksInAnotherProcess) {
  const Answer answer = ask_child("work", kLong, [] { return std::to_string(getpid()); });
  EXPECT_NE(answer.text, std::to_string(getpid()));
}

TEST(Forked, AnExceptionIsAnError) {
  const Answer answer =
      ask_child("work", kLong, []() -> std::string { throw std::runtime_error("no luck"); });
  EXPECT_EQ(answer.text, "");
  EXPECT_EQ(answer.error, "work failed: no luck");
}

TEST(Forked, ADeathBySignalIsAnError) {
  const Answer answer = ask_child("work", kLong, []() -> std::string {
    raise(SIGKILL);
    return "";
  });
  EXPECT_EQ(answer.error, "work ended by signal 9 (Killed)");
}

TEST(Forked, AnEarlyExitIsAnError) {
  const Answer answer = ask_child("work", kLong, []() -> std::string { _exit(3); });
  EXPECT_EQ(answer.error, "work ended with exit code 3");
}

TEST(Forked, AHangIsCutAtTheDeadline) {
  const Answer answer = ask_child("work", milliseconds(200), []() -> std::string {
    std::this_thread::sleep_for(std::chrono::minutes(5));
    return "";
  });
  EXPECT_EQ(answer.error, "work did not answer within 0.2 s");
}

}  // namespace
}  // namespace arbench
