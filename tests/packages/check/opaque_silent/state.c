double scale(void) { return 3.0; }
