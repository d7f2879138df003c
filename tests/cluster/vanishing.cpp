extern "C" int vanishing() { return 1; }
