#include "models.hpp"

#include <gtest/gtest.h>

namespace arbench {
namespace {

struct Shape {
  const char* name;
  int hidden, layers, allreduces;
  std::uint64_t four_tokens_bf16;  ///< bytes
};

class Models : public testing::TestWithParam<Shape> {};

TEST_P(Models, HaveTheirPublishedShape) {
  const Shape& shape = GetParam();
  const Model* model = find_model(shape.name);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->name, shape.name);
  EXPECT_EQ(model->hidden, shape.hidden);
  EXPECT_EQ(model->layers, shape.layers);
  EXPECT_EQ(model->allreduces_per_pass(), shape.allreduces);
  EXPECT_EQ(model->elements(4) * 2, shape.four_tokens_bf16);
}

INSTANTIATE_TEST_SUITE_P(Table, Models,
                         testing::Values(Shape{"kimi-k2", 7168, 61, 122, 57344},
                                         Shape{"kimi-k2.5", 7168, 61, 122, 57344},
                                         Shape{"deepseek-v3", 7168, 61, 122, 57344},
                                         Shape{"qwen3-235b", 4096, 94, 188, 32768},
                                         Shape{"glm-4.5", 5120, 92, 184, 40960},
                                         Shape{"glm-4.5-air", 4096, 46, 92, 32768},
                                         Shape{"llama-3-70b", 8192, 80, 160, 65536},
                                         Shape{"gpt-oss-120b", 2880, 36, 72, 23040},
                                         Shape{"minimax-m2", 3072, 62, 124, 24576}),
                         [](const auto& test) {
                           std::string name = test.param.name;
                           for (char& c : name)
                             if (c == '-' || c == '.') c = '_';
                           return name;
                         });

TEST(ModelTable, ListsEachModelOnce) {
  EXPECT_EQ(model_names(), (std::vector<std::string>{"kimi-k2", "kimi-k2.5", "deepseek-v3",
                                                     "qwen3-235b", "glm-4.5", "glm-4.5-air",
                                                     "llama-3-70b", "gpt-oss-120b", "minimax-m2"}));
  EXPECT_EQ(models().size(), 9U);
}

TEST(ModelTable, KnowsNoOther) {
  EXPECT_EQ(find_model("kimi"), nullptr);
  EXPECT_EQ(find_model("Kimi-K2.5"), nullptr);
  EXPECT_EQ(find_model(""), nullptr);
}

}  // namespace
}  // namespace arbench
