// Finds out which lanes of a warp did something together.
//
// Threads of a warp do not run in lock step here, so what they do is matched afterwards: each event
// has a key, and lanes whose events have the same key did it together. A lane mostly comes to
// events in the order in which the lanes before it did, so it finds them one after the other; where
// lanes went different ways an index by key helps.

#ifndef KILN_RUNTIME_EMULATOR_WARPSEQUENCE_H
#define KILN_RUNTIME_EMULATOR_WARPSEQUENCE_H

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace kiln::emulator {

/// `Event` has a uint64_t `key`, which its constructor takes, and a bool `isDone`: no further lane
/// will come.
template <typename Event> class WarpSequence {
public:
  /// The event that `lane` comes to next, made if no lane has come to it. Its number stays the
  /// same; the reference holds until the next call.
  Event &join(unsigned lane, uint64_t key, uint64_t &number, bool &isNew) {
    uint64_t &cursor = cursors[lane];
    number = cursor < first ? first : cursor;
    isNew = false;
    if (number == end()) {
      isNew = !isIndexed || !find(key, number);
    } else if (at(number).key != key) {
      makeIndex();
      isNew = !find(key, number);
    }
    if (isNew) {
      number = end();
      if (isIndexed)
        index[key] = number;
      events.emplace_back(key);
    }
    cursor = number + 1;
    return at(number);
  }

  bool has(uint64_t number) const { return number >= first && number < end(); }
  Event &at(uint64_t number) { return events[number - first + dropped]; }

  /// Forgets events at the beginning to which no lane will come.
  void dropDone() {
    while (dropped < events.size() && events[dropped].isDone)
      drop();
    release();
  }
  size_t size() const { return events.size() - dropped; }
  /// Forgets the older half; for each event that is not done, `last(event)` before.
  template <typename Last> void dropHalf(Last last) {
    for (size_t count = size() / 2; count > 0; --count) {
      if (!events[dropped].isDone)
        last(events[dropped]);
      drop();
    }
    release();
  }
  template <typename Last> void clear(Last last) {
    for (; dropped < events.size(); drop())
      if (!events[dropped].isDone)
        last(events[dropped]);
    release();
    isIndexed = false;
    index.clear();
  }

private:
  uint64_t end() const { return first + size(); }
  bool find(uint64_t key, uint64_t &number) const {
    auto found = index.find(key);
    if (found == index.end())
      return false;
    number = found->second;
    return true;
  }
  void makeIndex() {
    if (isIndexed)
      return;
    isIndexed = true;
    for (uint64_t number = first; number != end(); ++number)
      index[at(number).key] = number;
  }
  void drop() {
    if (isIndexed)
      index.erase(events[dropped].key);
    ++dropped;
    ++first;
  }
  void release() {
    if (dropped == events.size())
      events.clear();
    else if (dropped < 1024 || dropped < events.size() / 2)
      return;
    else
      events.erase(events.begin(), events.begin() + dropped);
    dropped = 0;
  }

  std::vector<Event> events; ///< of which the first `dropped` are forgotten
  size_t dropped = 0;
  uint64_t first = 0; ///< number of the first that is not
  uint64_t cursors[64] = {};
  bool isIndexed = false;
  std::unordered_map<uint64_t, uint64_t> index;
};

} // namespace kiln::emulator

#endif
