// No stem: rows go to the first layer as they are.

#define INPUT_ROWS team.values(0)

DEVICE bool stem_decays(int) { return false; }
template <class Input, class Act> DEVICE void each_embedded(const float*, Rows, Input, Act) {}
DEVICE void stem_forward(const Team&, const float*, Rows, bool) {}
DEVICE void stem_gradient(const Team&, int) {}
