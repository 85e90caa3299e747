double table[4] = {1.0, 2.0, 3.0, 4.0};
