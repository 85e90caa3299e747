double scale = 3.0;
