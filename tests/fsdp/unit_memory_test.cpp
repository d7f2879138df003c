#include "lockstep/fsdp/unit_memory.h"

#include <gtest/gtest.h>

#include <vector>

namespace lockstep::fsdp {
namespace {

TEST(UnitMemory, GivesTheSameBlocksForTheSameStepAgain) {
  UnitMemory memory(c10::kCPU, /*keeps=*/true);
  const auto step = [&] {
    std::vector<const void*> places;
    auto root = memory.take(64), first = memory.take(32), second = memory.take(32);
    for (const auto* block : {&root, &first, &second}) places.push_back(block->get());
    memory.give(std::move(second), 32);
    memory.give(std::move(first), 32);
    auto third = memory.take(32);
    places.push_back(third.get());
    memory.give(std::move(third), 32);
    memory.give(std::move(root), 64);
    return places;
  };
  step();  // may take them in another order than once they are there
  const auto places = step();
  EXPECT_EQ(memory.free_bytes(), 64 + 2 * 32);
  memory.set_lending(true);
  {
    auto a = memory.take(32), b = memory.take(32), lent = memory.take(32);
    memory.give(std::move(lent), 32);
    memory.give(std::move(a), 32);
    memory.give(std::move(b), 32);
  }
  memory.set_lending(false);
  EXPECT_EQ(memory.free_bytes(), 64 + 2 * 32) << "what was lent is gone";
  EXPECT_EQ(step(), places);
}

}  // namespace
}  // namespace lockstep::fsdp
