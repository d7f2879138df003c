// Sanitizers make a test many times slower: they run fewer variants of the same.
#pragma once

namespace lockstep::transport {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// `count` variants, or a tenth of them.
inline constexpr int variants(int count) { return kSanitized ? (count + 9) / 10 : count; }

}  // namespace lockstep::transport
