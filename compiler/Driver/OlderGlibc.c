/* The only function of LLVM's needs that glibc has no earlier than in 2.36. With one of our own the
 * program runs on distributions with 2.34, too. */

#include <stdint.h>
#include <sys/random.h>

uint32_t arc4random(void);

uint32_t arc4random(void) {
  uint32_t number;
  while (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
    ;
  return number;
}
