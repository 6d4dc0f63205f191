// Work done in a forked child, for libraries that must not stay in this process (CUDA does not
// survive a fork) or may crash or hang. Invariant: the child is gone when ask_child returns, unless
// even SIGKILL cannot end it.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace arbench {

struct Answer {
  std::string text;   ///< what `work` returned; empty on error
  std::string error;  ///< one line that begins with the name of the work; empty when `text` stands
};

/// Runs `work` in a forked child and returns what it returns, of any length. `name` is for error
/// texts:
/// "<name> did not answer within 20 s", "<name> ended by signal 11 (Segmentation fault)",
/// "<name> failed: <what()>". REQUIRES: no other thread holds a lock that `work` needs.
Answer ask_child(const std::string& name, std::chrono::milliseconds deadline,
                 const std::function<std::string()>& work);

}  // namespace arbench
