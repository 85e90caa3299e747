double scale(double x) { return sizeof WORDS == sizeof "with spaces" ? FACTOR * x : 0.0; }
