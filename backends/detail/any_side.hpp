#pragma once

// Marks small functions that both host code and device code call.

#if defined(__CUDACC__)
#define VSR_ANY_SIDE __host__ __device__
#else
#define VSR_ANY_SIDE
#endif
