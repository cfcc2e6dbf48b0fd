#include "compiler/Sema/Host/Journal.h"

namespace kiln::sema {

void Journal::note(const std::shared_ptr<Object> &object) {
  Change &change = trials.back()[object.get()];
  if (change.object)
    return;
  change.object = object;
  change.before = object->save();
}

Journal::Changes Journal::undo() {
  Changes changes = std::move(trials.back());
  trials.pop_back();
  for (auto &[object, change] : changes) {
    if (!change.before)
      continue;
    change.after = change.object->save();
    change.object->restore(*change.before);
  }
  return changes;
}

Journal::Changes Journal::keep() {
  Changes changes = std::move(trials.back());
  trials.pop_back();
  if (!trials.empty())
    for (const auto &[object, change] : changes) {
      Change &outer = trials.back()[object];
      if (!outer.object)
        outer = change;
    }
  return changes;
}

} // namespace kiln::sema
