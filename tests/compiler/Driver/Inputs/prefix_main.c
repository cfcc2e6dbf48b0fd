/* Two libraries with equal names and two runtimes in one program. */
#include <stdio.h>

int acme_use(int *out, int limit, char message[256]);
int bolt_use(int *out, int limit, char message[256]);

int main(void) {
  int out[4] = {0};
  char acme[256] = "", bolt[256] = "";
  int statuses[3];
  statuses[0] = acme_use(out, 4, acme);
  statuses[1] = bolt_use(out, 4, bolt);
  printf("out: %d %d %d %d\n", out[0], out[1], out[2], out[3]);
  /* Each kernel reports to its own runtime. */
  statuses[2] = bolt_use(out, 2, bolt);
  acme_use(out, 4, acme);
  printf("statuses: %d %d %d\nacme: '%s'\nbolt: '%s'\n", statuses[0], statuses[1], statuses[2],
         acme, bolt);
  return 0;
}
