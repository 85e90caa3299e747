"""Front doors for build backends: they translate, they hold no rule or bitcode knowledge."""
