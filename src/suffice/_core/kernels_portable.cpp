#define SUFFICE_ISA portable
#define SUFFICE_ISA_NAME "portable"
#include "kernels.inc"
