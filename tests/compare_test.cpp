#include "compare/compare.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compare/show.hpp"
#include "compare_sides.hpp"

namespace arbench::compare {
namespace {

TEST(Compare, VerdictFollowsTheIntervalAndTheBand) {
  EXPECT_EQ(verdict(Interval{1.02, 1.04}, 1), Verdict::slower);
  EXPECT_EQ(verdict(Interval{0.95, 0.98}, 1), Verdict::faster);
  EXPECT_EQ(verdict(Interval{0.995, 1.005}, 1), Verdict::same);
  EXPECT_EQ(verdict(Interval{1.005, 1.04}, 1), Verdict::unclear);
  EXPECT_EQ(verdict(Interval{1.02, 1.04}, 5), Verdict::same);
  EXPECT_EQ(verdict(Interval{0.995, 1.005}, 0), Verdict::same);  // at least 1 %
  EXPECT_EQ(verdict(std::nullopt, 1), Verdict::unclear);
  EXPECT_EQ(verdict(Interval{1.2, 1.3}, 99), Verdict::same);
  EXPECT_EQ(verdict(Interval{1.2, 1.3}, 100), Verdict::unclear);
  EXPECT_EQ(verdict(Interval{2.1, 2.2}, 100), Verdict::slower);
}

TEST(Compare, JoinsByKeyNotByNameAndListsTheRest) {
  Entry renamed = entry("ring", {{12}, {12}});
  renamed.name = "another name";
  Entry hung = entry("tree", {});
  hung.status = "hung";
  hung.reason = "no end";
  const Entry ring = entry("ring", {{10}, {10}}), tree = entry("tree", {{5}, {5}});
  const ResultSet from = launch({ring, tree, entry("a", {{1}})});
  const ResultSet to = launch({renamed, hung, entry("b", {{1}})});
  const Side a{from, from}, b{to, to};
  const Comparison found = compare(a, b);
  ASSERT_EQ(found.rows.size(), 4U);
  EXPECT_EQ(found.rows[0].verdict, Verdict::slower);
  EXPECT_EQ(*found.rows[0].ratio, 1.2);
  EXPECT_EQ(found.rows[0].note, "");
  EXPECT_EQ(found.rows[1].verdict, Verdict::none);
  EXPECT_EQ(found.rows[1].note, "B: 2 of 2 launches are hung (no end)");
  EXPECT_EQ(found.rows[2].note, "not in B");
  EXPECT_EQ(found.rows[3].name, "b/1024");
  EXPECT_EQ(found.rows[3].note, "not in A");
  EXPECT_TRUE(has_slower(found, 19));
  EXPECT_FALSE(has_slower(found, 21));
}

TEST(Compare, WarnsOfWhatElseDiffers) {
  Side a{launch({entry("ring", {{1}, {1}})})}, b = a;
  a[0].facts = {{"toolkit", "13.0"}, {"gpu", "H200"}};
  b[0].facts = {{"toolkit", "12.8"}, {"gpu", "H200"}};
  const std::vector<std::string> single{
      "A is a single launch: the spread between launches is unknown, so only a factor of two "
      "counts",
      "B is a single launch: the spread between launches is unknown, so only a factor of two "
      "counts"};
  EXPECT_EQ(compare(a, b).warnings, single);
  a[0].facts["option seed"] = "1";
  b[0].facts["option seed"] = "2";
  EXPECT_EQ(differences(a, b).size(), 2U);
  EXPECT_EQ(compare(a, b).warnings, single);
  b[0].facts["gpu"] = "H100";
  ASSERT_EQ(differences(a, b).size(), 3U);
  EXPECT_EQ(differences(a, b)[0].name, "gpu");
  EXPECT_EQ(differences(a, b)[0].a, "H200");
  EXPECT_EQ(differences(a, b)[0].b, "H100");
  EXPECT_EQ(compare(a, b).warnings[0],
            "more than the toolkit differs: what is found may have other causes");
  a[0].facts = b[0].facts = {};
  b[0].entries[0].key["virtual"] = a[0].entries[0].key["virtual"] = "1";
  a.push_back(a[0]);
  b.push_back(b[0]);
  EXPECT_EQ(compare(a, b).warnings,
            std::vector<std::string>{"virtual ranks or host backend: not a multi-GPU result"});
}

TEST(Compare, TheToolkitsCompilerIsNoOtherDifference) {
  Side a{launch({entry("ring", {{1}, {1}})})}, b = a;
  const auto run_json = [](const std::string& compiler, const std::string& toolkit) {
    return R"({"environment": {"arbench": {"compiler": ")" + compiler +
           R"("}, "cuda": {"toolkit": ")" + toolkit + R"("}}})";
  };
  add_facts(a[0], run_json("GNU 12.2.0, nvcc 13.0.88", "13.0"), "a");
  add_facts(b[0], run_json("GNU 12.2.0, nvcc 13.5.37", "13.5"), "b");
  ASSERT_EQ(differences(a, b).size(), 1U);
  EXPECT_EQ(differences(a, b)[0].name, "toolkit");
  b[0].facts.clear();
  add_facts(b[0], run_json("GNU 13.2.0, nvcc 13.0.88", "13.0"), "b");
  ASSERT_EQ(differences(a, b).size(), 1U);
  EXPECT_EQ(differences(a, b)[0].name, "compiler");
}

TEST(Compare, NcclOfOneVersionAndTwoToolkitsIsAnotherDifference) {
  Side a{launch({entry("ring", {{1}, {1}})})}, b = a;
  add_facts(a[0], R"({"environment": {"nccl": {"library": "2.28.9", "toolkit": "12.9"}}})", "a");
  add_facts(b[0], R"({"environment": {"nccl": {"library": "2.28.9", "toolkit": "13.0"}}})", "b");
  ASSERT_EQ(differences(a, b).size(), 1U);
  EXPECT_EQ(differences(a, b)[0].name, "NCCL toolkit");
  EXPECT_FALSE(is_expected(differences(a, b)[0]));
}

TEST(Compare, LaunchesThatDisagreeWidenTheBand) {
  const Side a{launch({entry("ring", {{10}, {10}})}), launch({entry("ring", {{12}, {12}})})};
  const Side b{launch({entry("ring", {{12}, {12}})}), launch({entry("ring", {{12}, {12}})})};
  EXPECT_EQ(compare(a, b).rows[0].verdict, Verdict::same);
  EXPECT_NEAR(compare(a, b).rows[0].band_pct, 30, 1e-9);  // 1.5 times the usual spread of 20 %
}

TEST(Compare, ASingleLaunchIsUnclearButForAFactorOfTwo) {
  const auto side = [](double us) { return Side{launch({entry("ring", {{us}, {us}})})}; };
  const auto verdict_of = [](const Side& a, const Side& b) {
    return compare(a, b).rows[0].verdict;
  };
  EXPECT_EQ(verdict_of(side(10), side(10)), Verdict::unclear);
  EXPECT_EQ(verdict_of(side(10), side(15)), Verdict::unclear);
  EXPECT_EQ(verdict_of(side(10), side(6)), Verdict::unclear);
  EXPECT_EQ(verdict_of(side(10), side(21)), Verdict::slower);
  EXPECT_EQ(verdict_of(side(10), side(4)), Verdict::faster);
  EXPECT_EQ(compare(side(10), side(15)).rows[0].band_pct, 100);
  EXPECT_FALSE(has_slower(compare(side(10), side(15)), 1));

  Side two = side(15);
  two.push_back(two[0]);
  EXPECT_EQ(verdict_of(side(10), two), Verdict::unclear);
  EXPECT_EQ(verdict_of(two, side(10)), Verdict::unclear);
  // The other launch hung: what is left of the row is a single launch.
  Side hung = two;
  hung[1].entries[0].status = "hung";
  EXPECT_EQ(verdict_of(hung, two), Verdict::unclear);
  EXPECT_EQ(verdict_of(two, two), Verdict::same);
}

/// 200 points, 3 launches, 12 rounds of one sample; deviations in percent.
Side simulated(unsigned seed, double factor, double launch_pct, double round_pct) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Side side(3);
  for (ResultSet& set : side)
    for (int point = 0; point < 200; ++point) {
      const double level = 20 * factor * std::exp(launch_pct / 100 * normal(random));
      std::vector<std::vector<double>> rounds;
      for (int round = 0; round < 12; ++round)
        rounds.push_back({level * std::exp(round_pct / 100 * normal(random))});
      set.entries.push_back(entry("ring" + std::to_string(point), rounds));
    }
  return side;
}

int count(const Comparison& comparison, Verdict verdict) {
  int found = 0;
  for (const Compared& row : comparison.rows) found += row.verdict == verdict;
  return found;
}

TEST(Compare, ARunAgainstItselfIsTheSame) {
  for (const auto& [launch_pct, round_pct] : {std::pair(0.4, 0.6), {1.0, 0.5}})
    EXPECT_GE(count(compare(simulated(1, 1, launch_pct, round_pct),
                            simulated(2, 1, launch_pct, round_pct)),
                    Verdict::same),
              190)
        << launch_pct << " " << round_pct;
}

TEST(Compare, RoundsThatAreTooNoisyAreUnclearAndSeldomWrong) {
  const Comparison found = compare(simulated(1, 1, 0.2, 1.5), simulated(2, 1, 0.2, 1.5));
  EXPECT_LE(count(found, Verdict::slower) + count(found, Verdict::faster), 2);
  EXPECT_GE(count(found, Verdict::unclear), 1);
}

TEST(Compare, ASlowdownOfThreePercentIsFound) {
  EXPECT_GE(
      count(compare(simulated(1, 1, 0.2, 0.5), simulated(2, 1.03, 0.2, 0.5)), Verdict::slower),
      190);
  EXPECT_GE(
      count(compare(simulated(1, 1.03, 0.2, 0.5), simulated(2, 1, 0.2, 0.5)), Verdict::faster),
      190);
}

TEST(Compare, GoldenTexts) {
  const TemporaryFolder folder;
  for (const char* launch : {"launch-1", "launch-2"}) {
    write_folder(folder / "a" / launch, "13.0", {"10", "10"});
    write_folder(folder / "b" / launch, "13.1", {"12.5", "12.5"});
  }
  const Comparison found =
      compare(read_side((folder / "a").string()), read_side((folder / "b").string()));
  EXPECT_EQ(text(found),
            "environment  A     B\n"
            "toolkit      13.0  13.1\n"
            "\n"
            "verdict  B/A    95 %            band %  A us   B us   row        note\n"
            "SLOWER   1.250  1.250 to 1.250  1.0     10.00  12.50  ring/1024\n"
            "\n"
            "not compared  why\n"
            "tree/1024     A: 2 of 2 launches are hung (no end); B: 2 of 2 launches are hung (no "
            "end)\n"
            "\n"
            "algorithm  sizes         rows  B/A    95 %\n"
            "ring       up to 64 KiB  1     1.250  1.250 to 1.250\n"
            "\n"
            "0 FASTER, 1 SLOWER, 0 SAME, 0 UNCLEAR, 1 not compared\n");
  EXPECT_EQ(markdown(found),
            "| environment | A | B |\n| --- | --- | --- |\n| toolkit | 13.0 | 13.1 |\n\n"
            "| verdict | B/A | 95 % | band % | A us | B us | row | note |\n"
            "| --- | --- | --- | --- | --- | --- | --- | --- |\n"
            "| SLOWER | 1.250 | 1.250 to 1.250 | 1.0 | 10.00 | 12.50 | ring/1024 |  |\n\n"
            "| not compared | why |\n| --- | --- |\n"
            "| tree/1024 | A: 2 of 2 launches are hung (no end); B: 2 of 2 launches are hung (no "
            "end) |\n\n"
            "| algorithm | sizes | rows | B/A | 95 % |\n| --- | --- | --- | --- | --- |\n"
            "| ring | up to 64 KiB | 1 | 1.250 | 1.250 to 1.250 |\n\n"
            "0 FASTER, 1 SLOWER, 0 SAME, 0 UNCLEAR, 1 not compared\n");
  Comparison exact = found;  // exp(log(x)) may miss x by a bit
  exact.rows[0].interval = Interval{1.25, 1.25};
  EXPECT_EQ(csv(exact),
            "verdict,ratio,ratio_ci_lo,ratio_ci_hi,band_pct,a_us,b_us,name,note\r\n"
            "SLOWER,1.25,1.25,1.25,1,10,12.5,ring/1024,\r\n"
            "-,,,,1,,,tree/1024,A: 2 of 2 launches are hung (no end); B: 2 of 2 launches are hung "
            "(no end)\r\n");
}

TEST(Compare, ThePageEscapesAllTextAndLoadsNothing) {
  Side a{launch({entry("<script>alert('1')</script>", {{10}, {10}}), entry("a&\"b\"", {{1}})})};
  Side b{launch({entry("<script>alert('1')</script>", {{30}, {30}})})};
  a[0].facts = {{"gpu", "<img src=x>"}};
  const std::string page = html(compare(a, b));
  const auto place = [&](const std::string& text) { return page.find(text); };
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>\n"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_EQ(place("<script"), std::string::npos);
  EXPECT_EQ(place("<img"), std::string::npos);
  EXPECT_EQ(place("http:"), std::string::npos);
  EXPECT_EQ(place("https:"), std::string::npos);
  EXPECT_EQ(place("src="), place("src=x&gt;"));
  const std::string row =
      "<tr><td class=\"SLOWER\">SLOWER</td><td>3.000</td><td>3.000 to 3.000</td><td>100.0</td>"
      "<td>10.00</td><td>30.00</td><td>&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;/1024</td>"
      "<td></td></tr>\n";
  ASSERT_NE(place(row), std::string::npos);
  EXPECT_LT(place("&lt;img src=x&gt;"), place("<h2>Rows</h2>"));
  EXPECT_LT(place(row), place("<td>a&amp;&quot;b&quot;/1024</td><td>not in B</td>"));
  EXPECT_LT(place("not in B"), place("<h2>Summary</h2>"));
  EXPECT_NE(place("prefers-color-scheme: dark"), std::string::npos);
  EXPECT_NE(html(compare(b, b)).find("Nothing else is known to differ."), std::string::npos);
}

}  // namespace
}  // namespace arbench::compare
