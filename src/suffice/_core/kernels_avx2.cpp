// Compiled with -mavx2 -mpopcnt -mbmi; called only where the processor has them.
#define SUFFICE_ISA avx2
#define SUFFICE_ISA_NAME "avx2"
#include "kernels.inc"
