"""Domain knowledge as data: consumer profiles, known functions, finding texts, schemas."""
