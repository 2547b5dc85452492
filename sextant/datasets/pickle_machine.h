// PickleMachine: the stack machine whose program a pickle is. Used by Pickle alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sextant/datasets/pickle.h"

namespace sextant::datasets {

class PickleMachine {
 public:
  // Values are kept by `pickle`.
  PickleMachine(std::string_view bytes, Pickle& pickle) : bytes_(bytes), pickle_(pickle) {}
  const PickleValue* Run();

 private:
  using Kind = PickleValue::Kind;
  using Values = std::vector<const PickleValue*>;

  // Does one instruction other than STOP.
  void Step(unsigned char code);
  bool StepText(unsigned char code);
  bool StepNumber(unsigned char code);
  bool StepMemo(unsigned char code);
  bool StepContainer(unsigned char code);
  bool StepObject(unsigned char code);

  std::string_view Take(uint64_t size);
  std::string_view TakeLine();
  uint64_t TakeSize(int bytes);

  PickleValue& Push(Kind kind);
  void PushShared(const PickleValue* value);
  const PickleValue* Pop();
  Values PopToMark();
  Values PopSeveral(size_t count);
  PickleValue& Top(Kind kind);
  void PushName(std::string_view module, std::string_view name);
  void Call(const PickleValue* function, const PickleValue* arguments);
  std::string_view Keep(std::string text);
  [[noreturn]] void Fail(std::string_view why) const;

  const std::string_view bytes_;
  Pickle& pickle_;
  size_t position_ = 0;
  size_t instruction_ = 0;  // where the current one began
  size_t kept_ = 0;         // bytes of texts made by Keep
  Values stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, const PickleValue*> memo_;
};

}  // namespace sextant::datasets
