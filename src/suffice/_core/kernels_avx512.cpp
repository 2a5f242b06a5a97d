// Compiled with -mavx512bw -mavx512vpopcntdq; called only where the processor has them.
#define SUFFICE_ISA avx512
#define SUFFICE_ISA_NAME "avx512"
#include "kernels.inc"
