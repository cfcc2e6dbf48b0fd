// What host code changes, so that it can be undone: under a condition that is not known, both
// branches run from the same state.
#ifndef KILN_COMPILER_SEMA_HOST_JOURNAL_H
#define KILN_COMPILER_SEMA_HOST_JOURNAL_H

#include "compiler/Sema/Values/Value.h"

namespace kiln::sema {

/// Keeps the contents of objects from before their first change, for each trial that is open.
class Journal {
public:
  struct Change {
    std::shared_ptr<Object> object, before;
    /// Once the trial has ended.
    std::shared_ptr<Object> after;
  };
  /// In the order of first changes.
  using Changes = llvm::MapVector<const Object *, Change>;

  /// To be called before each change of a mutable object.
  void willWrite(const std::shared_ptr<Object> &object) {
    if (!trials.empty() && object)
      note(object);
  }

  void begin() { trials.emplace_back(); }
  /// Ends the innermost trial and puts back what it changed.
  Changes undo();
  /// Ends the innermost trial; its changes stay, and are the enclosing trial's.
  Changes keep();

  /// Sets the trials aside while it lives: what is written meanwhile stays.
  struct Suspension {
    explicit Suspension(Journal &journal) : journal(journal) { std::swap(journal.trials, aside); }
    ~Suspension() { std::swap(journal.trials, aside); }
    Journal &journal;
    std::vector<Changes> aside;
  };

private:
  void note(const std::shared_ptr<Object> &object);

  std::vector<Changes> trials;
};

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_HOST_JOURNAL_H
