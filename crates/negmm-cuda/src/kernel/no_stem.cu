// A network without a stem: the first layer reads the input rows directly.

#define INPUT_ROWS team.activations(0)

DEVICE bool stem_decays(int) { return false; }
template <class Input, class Act> DEVICE void for_each_embedded(const float*, Rows, Input, Act) {}
DEVICE void stem_forward(const Team&, const float*, Rows, bool) {}
DEVICE void stem_gradient(const Team&, int) {}
