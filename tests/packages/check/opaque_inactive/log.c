void log_step(double x) { (void)x; }
